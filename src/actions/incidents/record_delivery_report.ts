import { afterFailure } from '#actions/incidents/after_failure.ts';
import { lockIncidentsOf } from '#actions/incidents/lock_incidents_of.ts';
import { recordPages } from '#actions/incidents/record_pages.ts';
import { inUnitOfWork, type UnitOfWorkRuntime } from '#actions/unit_of_work.ts';
import type { NotificationRow } from '#storage/postgres/notification_store.ts';

/** What a provider reports about a message. */
export interface DeliveryReport {
  readonly status: 'sent' | 'delivered' | 'failed';
  readonly reason: string | null;
  /** The provider's own id of the message: known from here when its sender did not live to hear it. */
  readonly providerId: string | null;
}

/**
 * Moves an entry of the notification log forward, and with a digest all that it stands for; a report that is late,
 * doubled or out of order changes nothing. A person whose last channel fails this way is passed over at once.
 */
export async function recordDeliveryReport(
  runtime: UnitOfWorkRuntime,
  notification: NotificationRow,
  report: DeliveryReport,
): Promise<void> {
  await inUnitOfWork(runtime, async (unit) => {
    const { notifications } = unit.stores;
    const incidents = await lockIncidentsOf(unit, notification);
    if (report.providerId !== null) await notifications.setProviderId(notification.id, report.providerId);
    const reason = report.status === 'failed' ? (report.reason ?? 'not_delivered') : null;
    const moved = await notifications.advance(notification.id, report.status, reason, unit.now);
    if (report.status === 'failed') await afterFailure(unit, incidents, moved);
    else await recordPages(unit, moved, report.status === 'delivered' ? 'page_delivered' : 'page_sent');
  });
}
