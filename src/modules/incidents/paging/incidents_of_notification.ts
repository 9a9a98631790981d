import type { Id } from '#kernel/ids.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import type { NotificationRow } from '#modules/notifications/store/notification_row.ts';
import type { Stores } from '#modules/stores.ts';

/** The incidents that an answer to the notification is about. Of a digest, those that nobody has answered yet. */
export async function listIncidentsOf(stores: Stores, notification: NotificationRow): Promise<IncidentRow[]> {
  const { orgId, incidentId } = notification;
  if (notification.kind !== 'digest') {
    const incident = incidentId && (await stores.incidents.find(orgId, incidentId));
    return incident ? [incident] : [];
  }
  const pages = (await stores.digests.listMembers(notification.id)).filter(({ kind }) => kind === 'page');
  const ids = pages.flatMap((page): Id<'incident'>[] => (page.incidentId === null ? [] : [page.incidentId]));
  const incidents = await stores.incidents.findAll(orgId, ids);
  return [...incidents.values()].filter(({ status }) => status === 'triggered');
}

/** Locks every incident that the notification is about until the transaction ends: many for a digest, none for a test. */
export async function lockIncidentsOf(
  stores: Stores,
  notification: NotificationRow,
): Promise<Map<string, IncidentRow>> {
  const entries = notification.kind === 'digest' ? await stores.digests.listMembers(notification.id) : [notification];
  return await stores.incidents.lockAll(entries.flatMap(({ incidentId }) => incidentId ?? []));
}
