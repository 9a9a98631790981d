import { limitMessages } from '#modules/notifications/decide/message_limit.ts';
import { deliverPage } from '#storage/queue/jobs.ts';
import type { Temporal } from '#kernel/time.ts';
import type { ClaimedNotification } from '#modules/notifications/store/delivery_store.ts';
import type { NotificationRow } from '#modules/notifications/store/notification_row.ts';
import { isAboutAccount } from '#modules/notifications/store/notification_store.ts';
import type { UnitOfWork } from '#modules/unit_of_work.ts';

/**
 * Claims a notification until the lease ends. Null when it is not to be sent now: another process has it, its incident
 * was answered, or its person has got enough messages in this minute and it joins a digest.
 */
export async function claimNotification(
  unit: UnitOfWork,
  notification: NotificationRow,
  leaseUntil: Temporal.Instant,
): Promise<ClaimedNotification | null> {
  if (notification.kind === 'digest') return await claimDigest(unit, notification, leaseUntil);
  const { stores, now } = unit;
  if (!isAboutAccount(notification.kind) && notification.releasedAt === null) {
    await stores.digests.holdLine(notification);
    if (!(await stores.digests.lockWaiting(notification.id, now))) return null;
    if (await joinsDigest(unit, notification)) return null;
  }
  return await stores.deliveries.claim(notification.id, leaseUntil, now);
}

/** Adds the notification to a digest, an existing or a new one, if it would be one too many. */
async function joinsDigest({ stores, now, enqueue }: UnitOfWork, notification: NotificationRow): Promise<boolean> {
  const recent = await stores.digests.listRecent(notification, now);
  const decision = limitMessages(notification.kind === 'page' ? 'page' : 'notice', recent, now);
  switch (decision.kind) {
    case 'send':
      return false;
    case 'join':
      await stores.digests.fold(notification.id, decision.digest.id, now);
      return true;
    case 'open_digest': {
      const digestId = await stores.digests.open(notification, decision.dueAt, now);
      enqueue(deliverPage, { notificationId: digestId }, decision.dueAt);
      await stores.digests.fold(notification.id, digestId, now);
      return true;
    }
  }
}

/** A digest without messages is cancelled, and a digest with a single message is sent as that message. */
async function claimDigest(
  { stores, now }: UnitOfWork,
  digest: NotificationRow,
  leaseUntil: Temporal.Instant,
): Promise<ClaimedNotification | null> {
  await stores.digests.holdLine(digest);
  const claimed = await stores.deliveries.claim(digest.id, leaseUntil, now);
  if (claimed === null) return null;
  const [first, ...others] = await stores.digests.lockMembers(digest.id);
  if (first === undefined) {
    await stores.deliveries.cancel(digest.id, 'nothing_left', now);
    return null;
  }
  if (others.length > 0 || claimed.attempts > 1) {
    await stores.digests.markSending(digest.id, now);
    return claimed;
  }
  await stores.deliveries.cancel(digest.id, 'one_left', now);
  await stores.digests.unfold(first.id, now);
  return await stores.deliveries.claim(first.id, leaseUntil, now);
}
