import { inUnitOfWork, type UnitOfWorkRuntime } from '#actions/unit_of_work.ts';
import { deliverPage } from '#jobs/deliver_page.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import type { Temporal } from '#kernel/time.ts';
import type { ChannelSender, Delivery } from '#notify/channel_sender.ts';
import type { OutgoingMessage } from '#notify/message.ts';
import type { Senders } from '#notify/registry.ts';
import type { ClaimedNotification, NotificationStore } from '#storage/postgres/notification_store.ts';
import { storesOf } from '#storage/postgres/stores.ts';
import { handleJob, type JobHandler } from '#storage/queue/job_workers.ts';
import { claimMessage } from '#workers/claim_message.ts';
import { whenDue } from '#workers/when_due.ts';
import { settleDelivery } from '#workers/settle_delivery.ts';
import { writeMessage } from '#actions/incidents/write_message.ts';

export interface DeliveryRuntime extends UnitOfWorkRuntime {
  readonly senders: Senders;
  readonly log: Log;
}

/** Beyond the longest that a request to the provider takes; then the sender counts as dead. */
const LEASE_MARGIN_MS = 2_000;

export const onDeliverPage = (runtime: DeliveryRuntime): JobHandler =>
  handleJob(deliverPage, async ({ notificationId }) => {
    await whenDue(runtime.clock, () => sendNotification(runtime, notificationId as Id<'notification'>));
  });

/**
 * Sends one message, if it is still to be sent. It is claimed in a transaction of its own before the provider is asked,
 * and what came of it is written in another: a worker that dies in between leaves a message whose fate is looked up at
 * the provider before anything is sent again. Resolves to when it is due if that is still to come.
 */
export async function sendNotification(
  runtime: DeliveryRuntime,
  notificationId: Id<'notification'>,
): Promise<Temporal.Instant | null> {
  const stores = storesOf(runtime.db.session());
  const waiting = await stores.notifications.find(notificationId);
  if (waiting === null) return null;
  const sender = runtime.senders.get(waiting.channel);
  const claimed = await inUnitOfWork(runtime, (unit) => claimMessage(unit, waiting, leaseOf(sender, runtime)));
  if (claimed === null) return await stores.notifications.findQueuedDueAt(notificationId);
  const hasLeft = (await stores.people.findRole(claimed.orgId, claimed.userId)) === null;
  const delivery: Delivery | null = hasLeft
    ? { kind: 'rejected', reason: 'left_organization' }
    : await sendOnce(runtime, sender, claimed, await writeMessage(stores, claimed));
  if (delivery === null) return null;
  const triesMax = sender?.uncertainTriesMax ?? 1;
  await inUnitOfWork(runtime, (unit) => settleDelivery(unit, claimed, delivery, triesMax));
  return null;
}

function leaseOf(sender: ChannelSender | undefined, { clock }: DeliveryRuntime): Temporal.Instant {
  return clock.now().add({ milliseconds: (sender?.timeoutMs ?? 0) + LEASE_MARGIN_MS });
}

/** Null when the message is no longer ours to send. */
async function sendOnce(
  runtime: DeliveryRuntime,
  sender: ChannelSender | undefined,
  claimed: ClaimedNotification,
  outgoing: OutgoingMessage | null,
): Promise<Delivery | null> {
  if (sender === undefined) return { kind: 'rejected', reason: 'channel_not_configured' };
  if (outgoing === null) return { kind: 'rejected', reason: 'service_deleted' };
  const { notifications } = storesOf(runtime.db.session());
  try {
    if (claimed.isUncertain) {
      const providerId = await findSent(notifications, sender, claimed, outgoing);
      if (providerId !== null) return { kind: 'accepted', providerId };
      if (!(await notifications.keep(claimed, leaseOf(sender, runtime)))) return null;
    }
    return await sender.send(outgoing);
  } catch (error) {
    runtime.log.warn({ notificationId: claimed.id, err: messageOf(error) }, 'the provider could not be asked');
    return { kind: 'retry', reason: 'provider_unreachable' };
  }
}

/**
 * The provider's id of a message whose earlier try may have got through. What the provider holds for this address may
 * belong to other entries: only when there is more than they can account for is one of it ours. In doubt it is sent
 * again, for a doubled page is better than a lost one.
 */
async function findSent(
  notifications: NotificationStore,
  sender: ChannelSender,
  claimed: ClaimedNotification,
  outgoing: OutgoingMessage,
): Promise<string | null> {
  const held = await sender.listSent(outgoing, claimed.createdAt.epochMilliseconds);
  const { unclaimed, othersUncertain } = await notifications.findUnclaimed(claimed, held);
  return unclaimed.length > othersUncertain ? (unclaimed[0] ?? null) : null;
}
