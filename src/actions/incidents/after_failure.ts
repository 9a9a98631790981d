import { fireNextAtOnce } from '#actions/incidents/fire_next_at_once.ts';
import type { UnitOfWork } from '#actions/unit_of_work.ts';
import { hasNoChannelLeft } from '#core/oncall/recipients.ts';
import type { IncidentRow } from '#storage/postgres/incident_store.ts';
import type { NotificationRow } from '#storage/postgres/notification_store.ts';

/** Logs a page that failed for good, and passes over a person who has no channel left in this step. */
export async function afterFailure(
  unit: UnitOfWork,
  incident: IncidentRow,
  page: Pick<NotificationRow, 'kind' | 'stepIndex' | 'userId' | 'channel'>,
  reason: string,
): Promise<void> {
  const { stores, now } = unit;
  const { userId, channel, stepIndex } = page;
  if (page.kind === 'update' || stepIndex === null) return;
  await stores.incidents.recordEvent(incident.id, 'page_failed', { userId, channel, stepIndex, reason }, now);
  if (incident.status !== 'triggered') return;
  if (!hasNoChannelLeft(await stores.notifications.listStatuses(incident.id, stepIndex, userId))) return;
  if (await fireNextAtOnce(unit, incident, stepIndex)) {
    await stores.incidents.recordEvent(incident.id, 'person_unreachable', { userId, stepIndex }, now);
  }
}
