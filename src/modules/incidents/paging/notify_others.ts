import type { IncidentActor, NewsEvent } from '#modules/incidents/decide/incident.ts';
import { deliverPage } from '#storage/queue/jobs.ts';
import type { Id } from '#kernel/ids.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import type { UnitOfWork } from '#modules/unit_of_work.ts';

/** Time for which the console offers to undo an answer; see `UNDO_MS` there. */
const UNDO_SECONDS = 10;

/**
 * Sends these people an SMS with news about an incident, except the person who made the change; returns their ids. News
 * of an answer from the console wait until it can no longer be undone there.
 */
export async function notifyOthers(
  { stores, now, enqueue }: UnitOfWork,
  incident: IncidentRow,
  people: readonly { readonly userId: Id<'user'>; readonly address: string }[],
  news: NewsEvent,
  by: IncidentActor,
): Promise<Id<'user'>[]> {
  const ownUserId = 'userId' in by ? by.userId : null;
  const others = people.filter(({ userId }) => userId !== ownUserId);
  const dueAt = by.via === 'console' && news !== 'reopened' ? now.add({ seconds: UNDO_SECONDS }) : now;
  const ids = await stores.notifications.insert(
    others.map(({ userId, address }) => ({
      orgId: incident.orgId,
      incidentId: incident.id,
      stepIndex: null,
      kind: 'update' as const,
      userId,
      channel: 'sms' as const,
      address,
      news,
      status: 'queued' as const,
      reason: null,
    })),
    now,
    dueAt,
  );
  for (const notificationId of ids) enqueue(deliverPage, { notificationId }, dueAt);
  return [...new Set(others.map(({ userId }) => userId))];
}
