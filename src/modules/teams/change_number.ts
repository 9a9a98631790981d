import type { Stores, UnitOfWork } from '#modules/stores.ts';
import type { Channel } from '#modules/contacts/decide/channel.ts';
import { deliverPage } from '#storage/queue/jobs.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { NewNotification } from '#modules/notifications/store/notification_store.ts';
import { actingRoleOf, isAbove, isManagerRole, type Role } from '#kernel/permissions.ts';

/** Limit on the owners and admins who are notified of one change. */
const TOLD_MAX = 20;

/** Change of a phone number: entered, replaced or taken away. */
interface NumberChange {
  readonly before: string | null;
  readonly after: string | null;
}

/**
 * Checks whose number it is and who enters it. People enter their own. For others:
 *
 * - of somebody with a higher role, nobody: what answers from the number would speak for them;
 * - once the person has confirmed a number, only owners and admins, or anybody who enters one that they have confirmed.
 *
 * Throws `forbidden`.
 */
export async function requireMayEnterNumber(
  { stores }: Pick<UnitOfWork, 'stores'>,
  { orgId, actor, permissions }: Caller,
  userId: Id<'user'>,
  { before, after }: NumberChange,
): Promise<void> {
  if (before === after || actor.kind === 'system') return;
  if (actor.kind === 'user' && actor.userId === userId) return;
  const target = await stores.people.findRole(orgId, userId);
  // Somebody who is no member here is not found, whatever numbers they have.
  if (target === null) return;
  const confirmed = await stores.phoneNumbers.listConfirmed(userId);
  const isConfirmed = (phone: string | null) => phone !== null && confirmed.includes(phone);
  if (isConfirmed(after) && !isConfirmed(before)) return;
  const callerRole = actor.kind === 'user' ? await stores.people.findRole(orgId, actor.userId) : null;
  const ceiling = actor.kind === 'user' ? callerRole : await ceilingOfKey(stores, orgId, actor.apiKeyId);
  const actingRole = actingRoleOf(ceiling, permissions);
  if (isAbove(target, actingRole)) {
    throw new AppError(
      'forbidden',
      `somebody with the role ${target} enters their phone number themselves, or another ${target} does; you act as ${actingRole}`,
    );
  }
  const isManager = callerRole !== null && isManagerRole(callerRole);
  if (isManager || (!isConfirmed(before) && (after === null || confirmed.length === 0))) return;
  throw new AppError(
    'forbidden',
    isConfirmed(before)
      ? 'this number was confirmed by the person it belongs to: they, or an owner or admin of the organization, may change it'
      : 'this person has confirmed another number: they, or an owner or admin of the organization, may enter this one',
  );
}

/**
 * Returns the role above which a key of the organization never acts: it may enter no number that whoever made it may
 * not. Null for a key that the operator has made.
 */
async function ceilingOfKey(
  { apiKeys, people }: Pick<Stores, 'apiKeys' | 'people'>,
  orgId: Id<'org'>,
  apiKeyId: Id<'apikey'>,
): Promise<Role | null> {
  const key = await apiKeys.find(orgId, apiKeyId);
  if (key === null || key.createdBy === null) return null;
  return (await people.findRole(orgId, key.createdBy)) === 'owner' ? 'owner' : 'admin';
}

/**
 * Sends notices of a change: to the person, by the numbers that they had, mail and push, when somebody else made it;
 * owners and admins by mail when the person replaced a number of their own.
 */
export async function notifyOfNumberChange(
  { stores, now, enqueue }: UnitOfWork,
  { orgId, actor }: Caller,
  userId: Id<'user'>,
  { before, after }: NumberChange,
  configured: ReadonlySet<Channel>,
): Promise<void> {
  if (before === after) return;
  const isOwn = actor.kind === 'user' && actor.userId === userId;
  const entry = { orgId, incidentId: null, stepIndex: null, status: 'queued', reason: null } as const;
  const messages: NewNotification[] = [];
  if (isOwn && before !== null) {
    const managers = (await stores.people.listManagers(orgId, TOLD_MAX)).filter((manager) => manager.userId !== userId);
    for (const { userId: managerId, email } of managers) {
      messages.push({ ...entry, kind: 'member_number_changed', userId: managerId, channel: 'email', address: email });
    }
  }
  if (!isOwn) {
    const change = { ...entry, kind: 'number_changed', userId } as const;
    const confirmed = await stores.phoneNumbers.listConfirmed(userId);
    // Entering a number that the person has confirmed already needs no notice.
    if (after !== null && before === null && confirmed.includes(after)) return;
    const numbers = new Set([...(before === null ? [] : [before]), ...confirmed]);
    // Somebody who had no number has lost none.
    if (numbers.size === 0) return;
    for (const address of numbers) if (address !== after) messages.push({ ...change, channel: 'sms', address });
    const person = (await stores.people.listPeople(orgId, [userId])).get(userId);
    if (person !== undefined) messages.push({ ...change, channel: 'email', address: person.email });
    if ((await stores.pushSubscriptions.listOf(orgId, userId)).length > 0) {
      messages.push({ ...change, channel: 'push', address: null });
    }
  }
  const ids: Id<'notification'>[] = await stores.notifications.insert(
    messages.filter(({ channel }) => configured.has(channel)),
    now,
  );
  for (const notificationId of ids) enqueue(deliverPage, { notificationId });
}
