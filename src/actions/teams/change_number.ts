import type { UnitOfWork } from '#storage/postgres/unit_of_work.ts';
import type { Channel } from '#core/oncall/channel.ts';
import { deliverPage } from '#jobs/deliver_page.ts';
import type { Caller } from '#core/access/caller.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { NewNotification } from '#storage/postgres/notification_store.ts';
import type { TeamMemberRow } from '#storage/postgres/team_store.ts';
import { isManagerRole } from '#kernel/permissions.ts';

/** Owners and admins who are notified of one change. */
const TOLD_MAX = 20;

/**
 * Whose number it is and who changes it: a number that its owner has confirmed is changed by them, or by an owner or
 * admin of the organization. Throws `forbidden`.
 */
export async function requireMayChangeNumber(
  { stores }: Pick<UnitOfWork, 'stores'>,
  { orgId, actor }: Caller,
  { userId }: Pick<TeamMemberRow, 'userId'>,
  before: string | null,
): Promise<void> {
  if (before === null || !(await stores.phoneNumbers.isConfirmed(userId, before))) return;
  if (actor.kind === 'system') return;
  if (actor.kind === 'user') {
    if (actor.userId === userId) return;
    const role = await stores.people.findRole(orgId, actor.userId);
    if (role !== null && isManagerRole(role)) return;
  }
  throw new AppError(
    'forbidden',
    'this number was confirmed by the person it belongs to: they, or an owner or admin of the organization, may change it',
  );
}

/**
 * Sends notices of a change: to the person by every remaining channel, the old number among them, when somebody else made it; owners
 * and admins by mail when the person did.
 */
export async function notifyOfNumberChange(
  { stores, now, enqueue }: UnitOfWork,
  { orgId, actor }: Caller,
  { userId }: Pick<TeamMemberRow, 'userId'>,
  before: string | null,
  configured: ReadonlySet<Channel>,
): Promise<void> {
  if (before === null) return;
  const isOwn = actor.kind === 'user' && actor.userId === userId;
  const entry = { orgId, incidentId: null, stepIndex: null, status: 'queued', reason: null } as const;
  const messages: NewNotification[] = [];
  if (isOwn) {
    const managers = (await stores.people.listManagers(orgId, TOLD_MAX)).filter((manager) => manager.userId !== userId);
    for (const { userId: managerId, email } of managers) {
      messages.push({ ...entry, kind: 'member_number_changed', userId: managerId, channel: 'email', address: email });
    }
  } else {
    const own = { ...entry, kind: 'number_changed', userId } as const;
    messages.push({ ...own, channel: 'sms', address: before });
    const person = (await stores.people.listPeople(orgId, [userId])).get(userId);
    if (person !== undefined) messages.push({ ...own, channel: 'email', address: person.email });
    if ((await stores.pushSubscriptions.listOf(userId)).length > 0) {
      messages.push({ ...own, channel: 'push', address: null });
    }
  }
  const ids: Id<'notification'>[] = await stores.notifications.insert(
    messages.filter(({ channel }) => configured.has(channel)),
    now,
  );
  for (const notificationId of ids) enqueue(deliverPage, { notificationId });
}
