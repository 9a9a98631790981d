import type { Id } from '#kernel/ids.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { escalationStateOf } from '#modules/incidents/decide/escalation_state.ts';
import type { IncidentActor } from '#modules/incidents/decide/incident.ts';
import { actorText } from '#modules/incidents/decide/incident_actor.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import { linkTo, PAGES } from '#modules/pages/decide/pages.ts';
import type { PlaceContent, PlaceIncident } from '#modules/places/decide/place_content.ts';
import type { PlaceDeliveryRow } from '#modules/places/store/place_delivery_store.ts';
import { type Stores, storesOf } from '#modules/stores.ts';
import type { UnitOfWorkRuntime } from '#modules/unit_of_work.ts';

interface ReadRuntime extends Pick<UnitOfWorkRuntime, 'db'> {
  readonly baseUrl: string;
}

/** Reads what a delivery is about, as it is now; null when it is gone. */
export async function readContent(
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
