import { afterFailure } from '#actions/incidents/after_failure.ts';
import { lockIncidentsOf } from '#actions/incidents/lock_incidents_of.ts';
import { recordPages } from '#actions/incidents/record_pages.ts';
import type { UnitOfWork } from '#actions/unit_of_work.ts';
import { nextRetryDelayMs } from '#core/oncall/retry.ts';
import { deliverPage } from '#jobs/deliver_page.ts';
import type { Delivery } from '#notify/channel_sender.ts';
import { type ClaimedNotification, type NotificationRow, UNCONFIRMED } from '#storage/postgres/notification_store.ts';
import type { IncidentRow } from '#storage/postgres/incident_store.ts';

/** Writes down what came of a message, and with a digest of all that it stands for. */
export async function settleDelivery(
  unit: UnitOfWork,
  claimed: ClaimedNotification,
  delivery: Delivery,
  uncertainTriesMax: number,
): Promise<void> {
  const incidents = await lockIncidentsOf(unit, claimed);
  switch (delivery.kind) {
    case 'accepted':
      await markSent(unit, claimed, { providerId: delivery.providerId, reason: null });
      return;
    case 'uncertain':
      if (claimed.attempts >= uncertainTriesMax)
        await markSent(unit, claimed, { providerId: null, reason: UNCONFIRMED });
      else await retryOrFail(unit, incidents, claimed, delivery.reason, 0);
      return;
    case 'retry':
      await retryOrFail(unit, incidents, claimed, delivery.reason, delivery.afterMs ?? 0);
      return;
    case 'rejected':
      await markFailed(unit, incidents, claimed, delivery.reason);
  }
}

async function markSent(
  unit: UnitOfWork,
  claimed: ClaimedNotification,
  sent: { readonly providerId: string | null; readonly reason: typeof UNCONFIRMED | null },
): Promise<void> {
  const { notifications } = unit.stores;
  if (sent.providerId !== null) await notifications.setProviderId(claimed.id, sent.providerId);
  const moved = await notifications.markSent(claimed.id, sent, unit.now);
  await recordPages(unit, moved, 'page_sent', { unconfirmed: sent.reason !== null });
}

/** Tries again later while five minutes from the first try last. */
async function retryOrFail(
  unit: UnitOfWork,
  incidents: ReadonlyMap<string, IncidentRow>,
  claimed: ClaimedNotification,
  reason: string,
  atLeastMs: number,
): Promise<void> {
  const { stores, now, enqueue } = unit;
  const firstTryAt = claimed.releasedAt ?? claimed.createdAt;
  const elapsedMs = now.epochMilliseconds - firstTryAt.epochMilliseconds;
  const delayMs = nextRetryDelayMs(claimed.attempts, elapsedMs, Math.random(), atLeastMs);
  if (delayMs === null) {
    await markFailed(unit, incidents, claimed, reason);
    return;
  }
  const dueAt = now.add({ milliseconds: delayMs });
  await stores.notifications.markForRetry(claimed.id, reason, dueAt, now);
  // Told once: what comes of it is told in the end.
  if (claimed.attempts === 1) await recordPages(unit, await pagesOf(unit, claimed), 'page_delayed', { reason });
  enqueue(deliverPage, { notificationId: claimed.id }, dueAt);
}

/** What waits for another try: the message, or with a digest all that it stands for. */
async function pagesOf({ stores }: UnitOfWork, claimed: ClaimedNotification): Promise<readonly NotificationRow[]> {
  if (claimed.kind !== 'digest') return [claimed];
  return (await stores.digests.listMembers(claimed.id)).filter(({ status }) => status === 'queued');
}

async function markFailed(
  unit: UnitOfWork,
  incidents: ReadonlyMap<string, IncidentRow>,
  claimed: ClaimedNotification,
  reason: string,
): Promise<void> {
  const moved = await unit.stores.notifications.advance(claimed.id, 'failed', reason, unit.now);
  await afterFailure(unit, incidents, moved);
}
