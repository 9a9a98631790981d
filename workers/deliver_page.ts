import { afterFailure } from '#actions/incidents/after_failure.ts';
import { inUnitOfWork, type UnitOfWork, type UnitOfWorkRuntime } from '#actions/unit_of_work.ts';
import { nextRetryDelayMs } from '#core/oncall/retry.ts';
import { deliverPage } from '#jobs/deliver_page.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import type { Temporal } from '#kernel/time.ts';
import type { ChannelSender, Delivery } from '#notify/channel_sender.ts';
import type { OutgoingMessage } from '#notify/message.ts';
import type { Senders } from '#notify/registry.ts';
import type { IncidentRow } from '#storage/postgres/incident_store.ts';
import { type ClaimedNotification, type NotificationStore, UNCONFIRMED } from '#storage/postgres/notification_store.ts';
import { storesOf } from '#storage/postgres/stores.ts';
import { handleJob, type JobHandler } from '#storage/queue/job_workers.ts';

export interface DeliveryRuntime extends UnitOfWorkRuntime {
  readonly senders: Senders;
  readonly log: Log;
}

/** Beyond the longest that a request to the provider takes; then the sender counts as dead. */
const LEASE_MARGIN_MS = 2_000;

export const onDeliverPage = (runtime: DeliveryRuntime): JobHandler =>
  handleJob(deliverPage, async ({ notificationId }) => {
    await sendNotification(runtime, notificationId as Id<'notification'>);
  });

/**
 * Sends one entry of the log, if it is still to be sent. It is claimed in a transaction of its own before the
 * provider is asked, and what came of it is written in another: a worker that dies in between leaves an entry whose
 * fate is looked up at the provider before anything is sent again.
 */
export async function sendNotification(runtime: DeliveryRuntime, notificationId: Id<'notification'>): Promise<void> {
  const stores = storesOf(runtime.db.session());
  const notification = await stores.notifications.find(notificationId);
  if (notification === null) return;
  const sender = runtime.senders.get(notification.channel);
  const claimed = await stores.notifications.claim(notificationId, leaseOf(sender, runtime), runtime.clock.now());
  if (claimed === null) return;
  const incident = await stores.incidents.find(claimed.orgId, claimed.incidentId);
  if (incident === null) return;
  const delivery: Delivery | null =
    sender === undefined
      ? { kind: 'rejected', reason: 'channel_not_configured' }
      : await sendOnce(runtime, sender, claimed, toOutgoing(claimed, incident));
  const triesMax = sender?.uncertainTriesMax ?? 1;
  if (delivery !== null) await inUnitOfWork(runtime, (unit) => settleDelivery(unit, claimed, delivery, triesMax));
}

function leaseOf(sender: ChannelSender | undefined, { clock }: DeliveryRuntime): Temporal.Instant {
  return clock.now().add({ milliseconds: (sender?.timeoutMs ?? 0) + LEASE_MARGIN_MS });
}

/** Null when the message is no longer ours to send. */
async function sendOnce(
  runtime: DeliveryRuntime,
  sender: ChannelSender,
  claimed: ClaimedNotification,
  outgoing: OutgoingMessage,
): Promise<Delivery | null> {
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

async function settleDelivery(
  unit: UnitOfWork,
  claimed: ClaimedNotification,
  delivery: Delivery,
  uncertainTriesMax: number,
): Promise<void> {
  const incident = await unit.stores.incidents.lock(claimed.incidentId);
  if (incident === null) return;
  switch (delivery.kind) {
    case 'accepted':
      await markSent(unit, claimed, { providerId: delivery.providerId, reason: null });
      return;
    case 'uncertain':
      if (claimed.attempts >= uncertainTriesMax)
        await markSent(unit, claimed, { providerId: null, reason: UNCONFIRMED });
      else await retryOrFail(unit, incident, claimed, delivery.reason, 0);
      return;
    case 'retry':
      await retryOrFail(unit, incident, claimed, delivery.reason, delivery.afterMs ?? 0);
      return;
    case 'rejected':
      await markFailed(unit, incident, claimed, delivery.reason);
  }
}

async function markSent(
  { stores, now }: UnitOfWork,
  claimed: ClaimedNotification,
  sent: { readonly providerId: string | null; readonly reason: typeof UNCONFIRMED | null },
): Promise<void> {
  if (sent.providerId !== null) await stores.notifications.setProviderId(claimed.id, sent.providerId);
  const isNews = await stores.notifications.markSent(claimed.id, sent, now);
  if (claimed.kind === 'update' || !isNews) return;
  const { userId, channel, stepIndex } = claimed;
  const data = { userId, channel, stepIndex, unconfirmed: sent.reason !== null };
  await stores.incidents.recordEvent(claimed.incidentId, 'page_sent', data, now);
}

/** Tries again later while the five minutes last; a page of an incident that is settled meanwhile is cancelled. */
async function retryOrFail(
  unit: UnitOfWork,
  incident: IncidentRow,
  claimed: ClaimedNotification,
  reason: string,
  atLeastMs: number,
): Promise<void> {
  const { stores, now, enqueue } = unit;
  const elapsedMs = now.epochMilliseconds - claimed.createdAt.epochMilliseconds;
  const delayMs = nextRetryDelayMs(claimed.attempts, elapsedMs, Math.random(), atLeastMs);
  if (delayMs === null) {
    await markFailed(unit, incident, claimed, reason);
    return;
  }
  const dueAt = now.add({ milliseconds: delayMs });
  await stores.notifications.markForRetry(claimed.id, reason, dueAt, now);
  if (incident.status !== 'triggered' && claimed.kind === 'page') {
    await stores.notifications.cancelQueued(incident.id, incident.status, now);
    return;
  }
  enqueue(deliverPage, { notificationId: claimed.id }, dueAt);
}

async function markFailed(
  unit: UnitOfWork,
  incident: IncidentRow,
  claimed: ClaimedNotification,
  reason: string,
): Promise<void> {
  const isNews = await unit.stores.notifications.advance(claimed.id, 'failed', reason, unit.now);
  if (isNews) await afterFailure(unit, incident, claimed, reason);
}

function toOutgoing(claimed: ClaimedNotification, incident: IncidentRow): OutgoingMessage {
  const { id: notificationId, createdAt, address: to, userId } = claimed;
  const event = claimed.reason === 'resolved' ? 'resolved' : 'acknowledged';
  return {
    notificationId,
    createdAt,
    to,
    userId,
    message: claimed.kind === 'page' ? { kind: 'page', subject: incident } : { kind: 'news', subject: incident, event },
  };
}
