import type { UnitOfWork } from '#actions/unit_of_work.ts';
import { decideStorm } from '#core/oncall/storm.ts';
import { deliverPage } from '#jobs/deliver_page.ts';
import type { Temporal } from '#kernel/time.ts';
import {
  type ClaimedNotification,
  isAboutAccount,
  type NotificationRow,
} from '#storage/postgres/notification_store.ts';

/**
 * Takes a message to send until the lease ends. Null when it is not to be sent now: somebody else has it, its incident
 * is settled, or it would be one too many for its person and waits for a digest from now on.
 */
export async function claimMessage(
  unit: UnitOfWork,
  message: NotificationRow,
  leaseUntil: Temporal.Instant,
): Promise<ClaimedNotification | null> {
  if (message.kind === 'digest') return await claimDigest(unit, message, leaseUntil);
  const { stores, now } = unit;
  if (!isAboutAccount(message.kind) && message.releasedAt === null) {
    await stores.digests.holdLine(message);
    if (!(await stores.digests.lockWaiting(message.id, now))) return null;
    if (await foldIfTooMany(unit, message)) return null;
  }
  return await stores.notifications.claim(message.id, leaseUntil, now);
}

/** Whether the message joined a digest, one that waits or a new one. */
async function foldIfTooMany({ stores, now, enqueue }: UnitOfWork, message: NotificationRow): Promise<boolean> {
  const recent = await stores.digests.listRecent(message, now);
  const decision = decideStorm(message.kind === 'page' ? 'page' : 'notice', recent, now);
  switch (decision.kind) {
    case 'send':
      return false;
    case 'join':
      await stores.digests.fold(message.id, decision.digest.id, now);
      return true;
    case 'open_digest': {
      const digestId = await stores.digests.open(message, decision.dueAt, now);
      enqueue(deliverPage, { notificationId: digestId }, decision.dueAt);
      await stores.digests.fold(message.id, digestId, now);
      return true;
    }
  }
}

/** A digest that nothing waits for is not sent, and one of a single message is that message. */
async function claimDigest(
  { stores, now }: UnitOfWork,
  digest: NotificationRow,
  leaseUntil: Temporal.Instant,
): Promise<ClaimedNotification | null> {
  await stores.digests.holdLine(digest);
  const claimed = await stores.notifications.claim(digest.id, leaseUntil, now);
  if (claimed === null) return null;
  const [first, ...others] = await stores.digests.lockMembers(digest.id);
  if (first === undefined) {
    await stores.notifications.cancel(digest.id, 'nothing_left', now);
    return null;
  }
  if (others.length > 0 || claimed.attempts > 1) {
    await stores.digests.markSending(digest.id, now);
    return claimed;
  }
  await stores.notifications.cancel(digest.id, 'one_left', now);
  await stores.digests.unfold(first.id, now);
  return await stores.notifications.claim(first.id, leaseUntil, now);
}
