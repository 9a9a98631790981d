import { passOver } from '#actions/incidents/fire_next_at_once.ts';
import type { UnitOfWork } from '#actions/unit_of_work.ts';
import { hasNoChannelLeft } from '#core/oncall/recipients.ts';
import type { IncidentRow } from '#storage/postgres/incident_store.ts';
import type { NotificationRow } from '#storage/postgres/notification_store.ts';

/**
 * Logs pages that failed for good, and passes over everybody who has no channel left in the step. The incidents are
 * locked by the caller; pages of others are left out.
 */
export async function afterFailure(
  unit: UnitOfWork,
  incidents: ReadonlyMap<string, IncidentRow>,
  failed: readonly NotificationRow[],
): Promise<void> {
  const { stores, now } = unit;
  const pages = failed.flatMap((page) => {
    const incident = page.kind === 'page' ? incidents.get(page.incidentId ?? '') : undefined;
    return incident === undefined || page.stepIndex === null ? [] : [{ page, incident, stepIndex: page.stepIndex }];
  });
  await stores.incidents.recordEvents(
    pages.map(({ page: { userId, channel, reason }, incident, stepIndex }) => {
      return { incidentId: incident.id, event: 'page_failed', data: { userId, channel, stepIndex, reason } };
    }),
    now,
  );
  const statuses = Map.groupBy(await stores.notifications.listStatuses(pages.map(({ page }) => page)), placeOf);
  for (const { page, incident, stepIndex } of pages) {
    const own = statuses.get(placeOf({ ...page, stepIndex })) ?? [];
    if (incident.status !== 'triggered' || !hasNoChannelLeft(own.map(({ status }) => status))) continue;
    await passOver(unit, incident, stepIndex, page.userId);
  }
}

function placeOf(page: { incidentId: string | null; stepIndex: number; userId: string }): string {
  return `${page.incidentId} ${page.stepIndex} ${page.userId}`;
}
