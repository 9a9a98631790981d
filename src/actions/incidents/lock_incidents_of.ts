import type { UnitOfWork } from '#actions/unit_of_work.ts';
import type { IncidentRow } from '#storage/postgres/incident_store.ts';
import type { NotificationRow } from '#storage/postgres/notification_store.ts';

/** Every incident that the message is about, by id, locked until the transaction ends: many for a digest, none for a test. */
export async function lockIncidentsOf(
  { stores }: UnitOfWork,
  notification: NotificationRow,
): Promise<Map<string, IncidentRow>> {
  const entries = notification.kind === 'digest' ? await stores.digests.listMembers(notification.id) : [notification];
  return await stores.incidents.lockAll(entries.flatMap(({ incidentId }) => incidentId ?? []));
}
