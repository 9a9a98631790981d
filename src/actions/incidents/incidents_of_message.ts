import type { Id } from '#kernel/ids.ts';
import type { IncidentRow } from '#storage/postgres/incident_store.ts';
import type { NotificationRow } from '#storage/postgres/notification_store.ts';
import type { Stores } from '#storage/postgres/stores.ts';

/** The incidents that an answer to this message is about: what a digest says, but for what is taken care of already. */
export async function listIncidentsOfMessage(stores: Stores, message: NotificationRow): Promise<IncidentRow[]> {
  const { orgId, incidentId } = message;
  if (message.kind !== 'digest') {
    const incident = incidentId && (await stores.incidents.find(orgId, incidentId));
    return incident ? [incident] : [];
  }
  const pages = (await stores.digests.listMembers(message.id)).filter(({ kind }) => kind === 'page');
  const ids = pages.flatMap((page): Id<'incident'>[] => (page.incidentId === null ? [] : [page.incidentId]));
  const incidents = await stores.incidents.findAll(orgId, ids);
  return [...incidents.values()].filter(({ status }) => status === 'triggered');
}
