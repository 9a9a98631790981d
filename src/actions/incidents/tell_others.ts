import type { UnitOfWork } from '#actions/unit_of_work.ts';
import type { NewsEvent, SettledBy } from '#core/incidents/incident.ts';
import { deliverPage } from '#jobs/deliver_page.ts';
import type { Id } from '#kernel/ids.ts';
import type { IncidentRow } from '#storage/postgres/incident_store.ts';

/** As long as the console offers to take an answer back; see `UNDO_MS` there. */
const UNDO_SECONDS = 10;

/**
 * Tells these people by SMS what became of an incident, except the one who did it; resolves to who they are. What was
 * answered in the console leaves only when it can no longer be undone there.
 */
export async function tellOthers(
  { stores, now, enqueue }: UnitOfWork,
  incident: IncidentRow,
  people: readonly { readonly userId: Id<'user'>; readonly address: string }[],
  news: NewsEvent,
  by: SettledBy,
): Promise<Id<'user'>[]> {
  const settler = 'userId' in by ? by.userId : null;
  const others = people.filter(({ userId }) => userId !== settler);
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
