import type { IncidentActor } from '#modules/incidents/decide/incident.ts';
import { firstStepIndex } from '#modules/policies/decide/escalation.ts';
import { deliverPage } from '#storage/queue/jobs/deliver_page.ts';
import { asId } from '#kernel/ids.ts';
import { toTimestamp } from '#kernel/time.ts';
import { stillAwaited } from '#modules/policies/decide/rounds.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import type { UnitOfWork } from '#modules/unit_of_work.ts';

/**
 * Acknowledges a triggered incident in the name of one person while others still must: only the messages of that person
 * stop; `again` when they had done so before. Null when the acknowledgement counts for the whole incident: no step that
 * needs everybody has paged anybody, everybody else has answered, or it is not by a person.
 */
export async function acknowledgeForOne(
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
  const awaited = await stores.notifications.listPaged(incident.id, steps);
  const left = stillAwaited(awaited, acknowledged, userId);
  if (left.length === 0) return null;
  if (acknowledged.some((earlier) => earlier.userId === userId)) return 'again';
  const acknowledgement = { userId, at: toTimestamp(now) };
  await stores.incidentPaging.setAcknowledgements(incident.id, [...acknowledged, acknowledgement], now);
  await stores.notifications.cancelQueued(incident.id, 'acknowledged', now, userId);
  await stores.timeline.record(incident.id, 'acknowledged_by_one', { by, waitsFor: left }, now);
  return 'once';
}

/** Undoes the acknowledgement of one person, who is paged again. Returns false when they have given none. */
export async function unacknowledgeForOne(
  { stores, now, enqueue }: UnitOfWork,
  incident: IncidentRow,
  by: IncidentActor,
): Promise<boolean> {
  const acknowledged = incident.acknowledgements ?? [];
  if (!('userId' in by) || !acknowledged.some(({ userId }) => userId === by.userId)) return false;
  const others = acknowledged.filter(({ userId }) => userId !== by.userId);
  await stores.incidentPaging.setAcknowledgements(incident.id, others, now);
  const pages = await stores.notifications.requeueCancelled(incident.id, now, asId('user', by.userId));
  for (const notificationId of pages) enqueue(deliverPage, { notificationId });
  await stores.timeline.record(incident.id, 'unacknowledged_by_one', { by }, now);
  return true;
}
