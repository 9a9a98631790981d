import type { Cipher } from '#auth/cipher.ts';
import { messageOf } from '#kernel/errors.ts';
import { isHeldBack, whileMayLeave } from '#kernel/held_request.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import { isAtOrBefore, type Temporal, toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { escalationStateOf } from '#modules/incidents/decide/escalation_state.ts';
import type { IncidentActor } from '#modules/incidents/decide/incident.ts';
import { actorText } from '#modules/incidents/decide/incident_actor.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import { linkTo, PAGES } from '#modules/pages/decide/pages.ts';
import { afterAttempt, type PlaceOutcome } from '#modules/places/decide/delivery.ts';
import type { PlaceContent, PlaceIncident } from '#modules/places/decide/place_content.ts';
import { answersUrlOf, placeDeclarationOf } from '#modules/places/decide/place_kinds.ts';
import { openSettings } from '#modules/places/view.ts';
import type { PlaceDeliveryRow } from '#modules/places/store/place_delivery_store.ts';
import type { PlaceRow } from '#modules/places/store/place_store.ts';
import { inUnitOfWork, type Stores, storesOf, type UnitOfWorkRuntime } from '#modules/stores.ts';
import type { PlaceSenders } from '#notify/places/registry.ts';
import { sendPlaceOff } from '#storage/queue/jobs.ts';

export interface PlaceRuntime extends UnitOfWorkRuntime {
  readonly log: Log;
  readonly baseUrl: string;
  readonly placeSenders: PlaceSenders;
  readonly placeCipher: Cipher;
}

/** Duration for which a process has the turn of a place, and for which it begins attempts. */
const TURN_SECONDS = 45;
const ATTEMPTS_SECONDS = 20;
/** Rest of a turn below which nothing is sent: that long a place may take to answer. */
const LEFT_SECONDS_MIN = 10;
/** Attempts in a turn: other places of the organization wait meanwhile. */
const ATTEMPTS_MAX = 20;

/**
 * Sends to a place what is due, in order, until it fails or the turn is over. Nothing is locked while the place is
 * waited for. Two processes never send to one place at once, so that an older state never follows a newer one: one that
 * was frozen until its turn was over sends nothing more.
 */
export async function deliverTo(runtime: PlaceRuntime, placeId: Id<'place'>): Promise<void> {
  const stores = () => storesOf(runtime.db.session());
  const begunAt = runtime.clock.now();
  const until = begunAt.add({ seconds: TURN_SECONDS });
  const lastAt = begunAt.add({ seconds: ATTEMPTS_SECONDS });
  const claimed = await stores().places.claim(placeId, begunAt, until);
  if (claimed === null) return;
  try {
    let place: PlaceRow | null = claimed;
    for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts += 1) {
      const now = runtime.clock.now();
      if (place === null || !place.isOn || isHeld(place, now) || isAtOrBefore(lastAt, now)) return;
      const delivery = await stores().placeDeliveries.findDue(placeId, now);
      if (delivery === null) return;
      await attempt(runtime, place, delivery, until);
      place = await stores().places.find(placeId);
    }
  } finally {
    await stores().places.release(placeId, until);
  }
}

function isHeld({ heldUntil }: PlaceRow, now: Temporal.Instant): boolean {
  return heldUntil !== null && heldUntil.epochMilliseconds > now.epochMilliseconds;
}

async function attempt(
  runtime: PlaceRuntime,
  place: PlaceRow,
  delivery: PlaceDeliveryRow,
  until: Temporal.Instant,
): Promise<void> {
  const { incidentId } = delivery;
  const { places, placeDeliveries } = storesOf(runtime.db.session());
  // Read before the state is: whatever comes later is not in it.
  const upTo = incidentId === null ? 0 : await placeDeliveries.lastWaiting(place.id, incidentId);
  const content = await readContent(runtime, place.orgId, delivery);
  if (content === null) return await record(runtime, place, delivery, { outcome: GONE, upTo, content, until });
  const reference = incidentId === null ? null : await places.findMessage(place.id, incidentId);
  const lastAt = until.subtract({ seconds: LEFT_SECONDS_MIN });
  const outcome = await whileMayLeave(
    () => isAtOrBefore(runtime.clock.now(), lastAt),
    () => send(runtime, place, delivery, { content, reference }),
  );
  if (outcome !== null) await record(runtime, place, delivery, { outcome, upTo, content, until });
}

const GONE: PlaceOutcome = {
  kind: 'refused',
  reason: 'What it was about is gone.',
  body: '',
  status: null,
  answer: null,
};

/** Sends a delivery once; null if it was held back. */
async function send(
  { placeSenders, placeCipher, clock, log, baseUrl }: PlaceRuntime,
  place: PlaceRow,
  { id: deliveryId, number: sequence, body: earlierBody }: PlaceDeliveryRow,
  { content, reference }: { content: PlaceContent; reference: Readonly<Record<string, string>> | null },
): Promise<PlaceOutcome | null> {
  try {
    const settings = openSettings(placeCipher, place.sealed);
    const nowMs = clock.now().epochMilliseconds;
    const answersUrl = answersUrlOf(baseUrl, place);
    const message = { content, settings, reference, deliveryId, sequence, earlierBody, answersUrl, nowMs };
    return await placeSenders[place.kind].send(message);
  } catch (error) {
    if (isHeldBack(error)) return null;
    log.error({ placeId: place.id, err: messageOf(error) }, 'a message to a place could not be made');
    return { kind: 'retry', reason: 'Tocsin could not make the message.', body: '', status: null, answer: null };
  }
}

interface Attempted {
  readonly outcome: PlaceOutcome;
  /** Number up to which waiting deliveries of the incident are in the state that was sent. */
  readonly upTo: number;
  readonly content: PlaceContent | null;
  /** End of the turn in which it was made. */
  readonly until: Temporal.Instant;
}

/**
 * Records an attempt and what follows of it. One that failed counts only while its turn lasts and the place is on: another
 * process may have sent the delivery since, or somebody ended it. Owners are told once when the place is switched off.
 */
async function record(
  runtime: PlaceRuntime,
  place: PlaceRow,
  delivery: PlaceDeliveryRow,
  { outcome, upTo, content, until }: Attempted,
): Promise<void> {
  await inUnitOfWork(runtime, async ({ stores, now, enqueue }) => {
    if (outcome.kind !== 'sent' && !(await stores.places.lockTurn(place.id, until))) return;
    const after = afterAttempt(delivery, place, outcome, now);
    await stores.placeDeliveries.saveAttempt(delivery, {
      status: after.status,
      dueAt: after.dueAt,
      endedAt: after.status === 'waiting' ? null : now,
      body: outcome.body,
      answerStatus: outcome.status,
      answer: outcome.answer,
      failure: outcome.kind === 'sent' ? null : outcome.reason,
    });
    await stores.places.saveHealth(place.id, after.health);
    const { incidentId } = delivery;
    if (outcome.kind === 'sent' && incidentId !== null && content?.kind === 'incident') {
      if (outcome.reference !== null) await stores.places.saveMessage(place.id, incidentId, outcome.reference, now);
      if (placeDeclarationOf(place.kind).sendsNewest) {
        await stores.placeDeliveries.supersede({ placeId: place.id, incidentId, upTo }, now);
      }
    }
    if (!after.switchesOff || !(await stores.places.switchOff(place.id, now))) return;
    await stores.placeDeliveries.end(place.id, 'The place was switched off.', now);
    const members = await stores.people.listPlaces(place.orgId);
    for (const { userId, role } of members) {
      if (role === 'owner') enqueue(sendPlaceOff, { placeId: place.id, userId });
    }
  });
}

interface ReadRuntime extends Pick<UnitOfWorkRuntime, 'db'> {
  readonly baseUrl: string;
}

/** Reads what a delivery is about, as it is now; null when it is gone. */
async function readContent(
  { db, baseUrl }: ReadRuntime,
  orgId: Id<'org'>,
  { incidentId, noteId, event }: Pick<PlaceDeliveryRow, 'incidentId' | 'noteId' | 'event'>,
): Promise<PlaceContent | null> {
  const stores = storesOf(db.session());
  if (incidentId === null) {
    const organization = await stores.people.findOrganization(orgId);
    return organization === null ? null : { kind: 'test', organization: organization.name };
  }
  const row = await stores.incidents.find(orgId, incidentId);
  if (row === null) return null;
  const note = noteId === null ? null : await stores.incidentNotes.find(incidentId, noteId);
  const names = await namesOf(stores, row, note?.userId ?? null);
  const incident = await toPlaceIncident(stores, row, { names, baseUrl });
  if (event !== 'note') return { kind: 'incident', event, incident };
  if (note === null) return null;
  const author = note.agentName ?? names.get(note.userId) ?? 'somebody who has left';
  return { kind: 'note', incident, note: { id: note.id, author, text: note.body, at: toTimestamp(note.createdAt) } };
}

async function namesOf(stores: Stores, row: IncidentRow, authorId: string | null): Promise<Map<string, string>> {
  const ids = [row.acknowledgedBy, row.resolvedBy].flatMap((by) => (by !== null && 'userId' in by ? [by.userId] : []));
  const people = await stores.people.listPeople(row.orgId, authorId === null ? ids : [...ids, authorId]);
  return new Map([...people.values()].map(({ userId, name }) => [userId as string, name]));
}

async function toPlaceIncident(
  stores: Stores,
  row: IncidentRow,
  { names, baseUrl }: { readonly names: ReadonlyMap<string, string>; readonly baseUrl: string },
): Promise<PlaceIncident> {
  const steps = await stores.stepTimers.listSteps([row.id]);
  const nameOf = (by: IncidentActor | null) =>
    by === null ? null : actorText(by, (userId) => names.get(userId) ?? 'somebody who has left');
  return {
    id: row.id,
    number: row.number,
    title: row.title,
    service: { id: row.serviceId, name: row.serviceName },
    severity: row.severity,
    status: row.status,
    occurrences: row.occurrences,
    triggeredAt: toTimestamp(row.triggeredAt),
    acknowledgedAt: toTimestampOrNull(row.acknowledgedAt),
    acknowledgedBy: nameOf(row.acknowledgedBy),
    resolvedAt: toTimestampOrNull(row.resolvedAt),
    resolvedBy: nameOf(row.resolvedBy),
    nextStep: escalationStateOf(row.status, steps).nextStep,
    url: linkTo(baseUrl, `${PAGES.incidents}/${row.id}`, row.orgId),
  };
}
