import type { NewsEvent } from '#core/incidents/incident.ts';
import { settlerName } from '#core/incidents/settler.ts';
import type { DigestItem, Message, OutgoingMessage } from '#notify/message.ts';
import type { IncidentRow } from '#storage/postgres/incident_store.ts';
import type { NotificationRow } from '#storage/postgres/notification_store.ts';
import type { Stores } from '#storage/postgres/stores.ts';

/** What the message says, from what it is about; null when that is gone. The same for every try. */
export async function writeMessage(stores: Stores, notification: NotificationRow): Promise<OutgoingMessage | null> {
  const { id: notificationId, createdAt, address: to, userId } = notification;
  const message = await contentOf(stores, notification);
  return message && { notificationId, createdAt, to, userId, message };
}

async function contentOf(stores: Stores, notification: NotificationRow): Promise<Message | null> {
  const { kind } = notification;
  if (kind === 'test' || kind === 'number_changed' || kind === 'member_number_changed') return { kind };
  if (kind === 'code') {
    const code = await stores.phoneNumbers.findCodeOf(notification.id);
    return code === null ? null : { kind: 'code', code };
  }
  if (kind === 'digest') {
    const members = await stores.digests.listMembers(notification.id);
    const items = await itemsOf(
      stores,
      members.filter(({ status }) => status !== 'cancelled'),
    );
    return items.length === 0 ? null : { kind: 'digest', items };
  }
  const [item] = await itemsOf(stores, [notification]);
  if (item === undefined) return null;
  const { subject, news: event } = item;
  if (event === null) return { kind: 'page', subject };
  return { kind: 'news', subject, event, by: await settlerOf(stores, subject, event) };
}

/** Who it was, in words; null when that was taken back since. */
async function settlerOf(stores: Stores, incident: IncidentRow, event: NewsEvent): Promise<string | null> {
  const by = { acknowledged: incident.acknowledgedBy, resolved: incident.resolvedBy, reopened: null }[event];
  if (by === null) return null;
  const people = await stores.people.listPeople(incident.orgId, 'userId' in by ? [by.userId] : []);
  return settlerName(by, (userId) => people.get(userId)?.name ?? 'somebody who has left');
}

/** Those whose incident is not gone, in the order given. */
async function itemsOf(
  stores: Stores,
  entries: readonly NotificationRow[],
): Promise<(DigestItem & { readonly subject: IncidentRow })[]> {
  const [first] = entries;
  if (first === undefined) return [];
  const incidentIds = entries.flatMap(({ incidentId }) => incidentId ?? []);
  const incidents = await stores.incidents.findAll(first.orgId, incidentIds);
  return entries.flatMap(({ id: notificationId, incidentId, kind, news }) => {
    const subject = incidents.get(incidentId ?? '');
    if (subject === undefined) return [];
    return [{ notificationId, subject, news: kind === 'update' ? (news ?? 'acknowledged') : null }];
  });
}
