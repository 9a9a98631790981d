import { decideAcknowledge, decideUnacknowledge, type IncidentActor } from '#modules/incidents/decide/incident.ts';
import { findAddress, wantsChannel } from '#modules/contacts/decide/contact.ts';
import { readContacts } from '#modules/incidents/paging/read_contacts.ts';
import { stopEscalation } from '#modules/incidents/paging/stop_escalation.ts';
import { AppError } from '#kernel/errors.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import type { UnitOfWork } from '#modules/stores.ts';
import { firstStepIndex, stepAt } from '#modules/policies/decide/escalation.ts';
import { deliverPage } from '#storage/queue/jobs.ts';
import { asId } from '#kernel/ids.ts';
import { mayAnswer } from '#kernel/permissions.ts';
import { Temporal, toTimestamp } from '#kernel/time.ts';
import { type Acknowledgement, stillAwaited, withoutAcknowledgementOf } from '#modules/policies/decide/rounds.ts';
import { resumePaging } from '#modules/incidents/paging/suppression.ts';
import { resumeEscalation, withdrawStatusUpdates } from '#modules/incidents/paging/acknowledgement_timeout.ts';

/**
 * Undoes that an incident, which the caller has locked, was acknowledged: its escalation resumes. Returns false when
 * nobody has acknowledged it; throws `conflict` when it is resolved.
 */
export async function unacknowledge(unit: UnitOfWork, incident: IncidentRow, by: IncidentActor): Promise<boolean> {
  const decision = decideUnacknowledge(incident.status);
  if (decision === 'unchanged') return await withdrawAcknowledgement(unit, incident, by);
  if (decision === 'conflict') throw new AppError('conflict', 'this incident is resolved; reopen it if it is not over');
  const { acknowledgedAt, acknowledgedBy } = incident;
  const whole =
    acknowledgedAt !== null && acknowledgedBy !== null && 'userId' in acknowledgedBy
      ? { userId: asId('user', acknowledgedBy.userId), at: toTimestamp(acknowledgedAt) }
      : null;
  const earlier = incident.acknowledgements ?? [];
  const acknowledgements = withoutAcknowledgementOf(earlier, whole, 'userId' in by ? by.userId : null);
  await unit.stores.incidents.reopen(incident.id, 'triggered', unit.now);
  if (earlier.length > 0) await unit.stores.suppression.setAcknowledgements(incident.id, acknowledgements, unit.now);
  const resumedMessages = await resumeEscalation(unit, { ...incident, acknowledgements }, acknowledgedAt ?? unit.now);
  const undone = earlier.find(({ userId }) => 'userId' in by && userId === by.userId);
  if (undone !== undefined) await pageAfterAll(unit, incident, undone);
  await resumePaging(unit, incident.id, acknowledgedAt ?? unit.now);
  const notified = await withdrawStatusUpdates(unit, incident, 'acknowledged', by);
  await unit.stores.timeline.record(incident.id, 'unacknowledged', { by, resumedMessages, told: notified }, unit.now);
  return true;
}

/**
 * Acknowledges a triggered incident in the name of one person while others still must: only the messages of that person
 * stop; `again` when they had done so before. Null when the acknowledgement counts for the whole incident: no step that
 * needs everybody has paged anybody, everybody else has answered, left or may not answer, or it is not by a person.
 */
async function acknowledgeForOne(
  { stores, now }: UnitOfWork,
  incident: IncidentRow,
  by: IncidentActor,
): Promise<'once' | 'again' | null> {
  if (!('userId' in by)) return null;
  const userId = asId('user', by.userId);
  const first = firstStepIndex(incident.steps);
  const steps = incident.steps.flatMap(({ needsEverybody }, place) => (needsEverybody ? [first + place] : []));
  if (steps.length === 0) return null;
  const acknowledged = incident.acknowledgements ?? [];
  const paged = await stores.people.listReachable(
    incident.orgId,
    await stores.notifications.listPaged(incident.id, steps),
  );
  const awaited = [...paged.values()].filter(({ role }) => mayAnswer(role));
  const left = stillAwaited(
    awaited.map((person) => person.userId),
    acknowledged,
    userId,
  );
  if (left.length === 0) return null;
  if (acknowledged.some((earlier) => earlier.userId === userId)) return 'again';
  const acknowledgement = { userId, at: toTimestamp(now) };
  await stores.suppression.setAcknowledgements(incident.id, [...acknowledged, acknowledgement], now);
  await stores.notifications.cancelQueued(incident.id, 'acknowledged', now, userId);
  await stores.timeline.record(incident.id, 'acknowledged_by_one', { by, waitsFor: left }, now);
  return 'once';
}

/** Sends the pages of the last step that passed a person over because of the acknowledgement that they have undone. */
async function pageAfterAll(unit: UnitOfWork, incident: IncidentRow, undone: Acknowledgement): Promise<void> {
  const { stores, now, enqueue } = unit;
  const { userId } = undone;
  const since = Temporal.Instant.from(undone.at);
  const { stepIndex, pages } = await stores.notifications.findPassedOver(incident.id, userId, since);
  if (pages.length === 0) return;
  const contact = (await readContacts(stores, incident, [userId], stepAt(incident.steps, stepIndex))).get(userId);
  for (const { id, channel } of pages) {
    const address = contact && wantsChannel(contact, channel) ? findAddress(contact, channel) : null;
    if (address === null) continue;
    await stores.notifications.queueSkipped(id, address.to, now);
    enqueue(deliverPage, { notificationId: id });
  }
}

/** Undoes the acknowledgement of one person, who is paged again. Returns false when they have given none. */
async function withdrawAcknowledgement(unit: UnitOfWork, incident: IncidentRow, by: IncidentActor): Promise<boolean> {
  const { stores, now, enqueue } = unit;
  const acknowledged = incident.acknowledgements ?? [];
  const undone = acknowledged.find(({ userId }) => 'userId' in by && userId === by.userId);
  if (undone === undefined) return false;
  const { userId } = undone;
  const others = withoutAcknowledgementOf(acknowledged, null, userId);
  await stores.suppression.setAcknowledgements(incident.id, others, now);
  const pages = await stores.notifications.requeueCancelled(incident.id, now, { only: userId });
  for (const notificationId of pages) enqueue(deliverPage, { notificationId });
  await pageAfterAll(unit, incident, undone);
  await stores.timeline.record(incident.id, 'unacknowledged_by_one', { by }, now);
  return true;
}

/**
 * Acknowledges an incident that the caller has locked. Returns false when it was acknowledged already; throws `conflict`
 * when it is resolved. While others still must, it acknowledges for one person only, and the incident stays triggered.
 */
export async function acknowledge(unit: UnitOfWork, incident: IncidentRow, by: IncidentActor): Promise<boolean> {
  const decision = decideAcknowledge(incident.status);
  if (decision === 'unchanged') return false;
  if (decision === 'conflict') {
    throw new AppError('conflict', 'this incident is resolved already; a new breach will open a new one');
  }
  const forOne = await acknowledgeForOne(unit, incident, by);
  if (forOne !== null) return forOne === 'once';
  await unit.stores.incidents.acknowledge(incident.id, by, unit.now);
  await stopEscalation(unit, incident, 'acknowledged', by);
  return true;
}
