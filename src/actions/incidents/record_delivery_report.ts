import { afterFailure } from '#actions/incidents/after_failure.ts';
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
 * Moves an entry of the notification log forward; a report that is late, doubled or out of order changes nothing. A
 * person whose last channel fails this way is passed over at once.
 */
export async function recordDeliveryReport(
  runtime: UnitOfWorkRuntime,
  notification: NotificationRow,
  report: DeliveryReport,
): Promise<void> {
  await inUnitOfWork(runtime, async (unit) => {
    const { stores, now } = unit;
    const incident = await stores.incidents.lock(notification.incidentId);
    if (incident === null) return;
    if (report.providerId !== null) await stores.notifications.setProviderId(notification.id, report.providerId);
    if (!(await stores.notifications.advance(notification.id, report.status, report.reason, now))) return;
    const { userId, channel, stepIndex } = notification;
    if (report.status === 'failed') {
      await afterFailure(unit, incident, notification, report.reason ?? 'not_delivered');
    } else if (notification.kind === 'page') {
      const event = report.status === 'delivered' ? 'page_delivered' : 'page_sent';
      await stores.incidents.recordEvent(incident.id, event, { userId, channel, stepIndex }, now);
    }
  });
}
