import type { IncidentActor } from '#modules/incidents/decide/incident.ts';
import { type AlertQueue, dedupKeyOfAlert } from '#modules/alerts/alert_queue.ts';
import { endStormMembers, resolve } from '#modules/incidents/change_status.ts';
import type { Id } from '#kernel/ids.ts';
import type { AlertRow } from '#modules/alerts/store/alert_store.ts';
import type { UnitOfWork } from '#modules/unit_of_work.ts';

/** An alert that is over; its row is saved as such. */
export type EndedAlert = Pick<AlertQueue, 'source' | 'row'> & {
  /** The incident that ends though the alert goes on, as it was about an earlier time; else null. */
  readonly replaced: Id<'incident'> | null;
};

/**
 * Resolves the incidents of alerts that are over, each in the name that `byOf` says. One for several alerts of a group
 * ends with the last of them; a storm, with its last member.
 */
export async function endAlerts(
  unit: UnitOfWork,
  ended: readonly EndedAlert[],
  byOf: (row: AlertRow) => IncidentActor,
): Promise<void> {
  if (ended.length === 0) return;
  const over = new Map<string, EndedAlert>();
  for (const alert of ended) {
    const { row, source, replaced } = alert;
    const isGrouped = source.settings.incidentsPer === 'group' && row.groupKey !== null;
    const goesOn =
      replaced === null &&
      isGrouped &&
      row.groupKey !== null &&
      (await unit.stores.alerts.hasOpenOfGroup(row.sourceId, row.scope, row.groupKey));
    if (!goesOn) over.set(dedupKeyOfAlert(alert), alert);
  }
  const standing = await unit.stores.alerts.listStanding([...over.keys()]);
  await endMembers(unit, over, standing, byOf);
  const ofKeys = new Map(
    standing.filter(({ isMember }) => !isMember).map((alert) => [alert.dedupKey, alert.incidentId]),
  );
  const byIncident = new Map<Id<'incident'>, EndedAlert>();
  for (const [key, alert] of over) {
    const incidentId = ofKeys.get(key) ?? (await incidentLeft(unit, alert, standing));
    if (incidentId !== null) byIncident.set(incidentId, alert);
  }
  for (const incident of (await unit.stores.incidents.lockAll([...byIncident.keys()])).values()) {
    const alert = byIncident.get(incident.id);
    if (alert !== undefined) await resolve(unit, incident, byOf(alert.row));
  }
}

async function endMembers(
  unit: UnitOfWork,
  over: ReadonlyMap<string, EndedAlert>,
  standing: Awaited<ReturnType<UnitOfWork['stores']['alerts']['listStanding']>>,
  byOf: (row: AlertRow) => IncidentActor,
): Promise<void> {
  const members = Map.groupBy(
    standing.filter(({ isMember }) => isMember),
    ({ incidentId }) => incidentId,
  );
  for (const storm of (await unit.stores.incidents.lockAll([...members.keys()])).values()) {
    const keys = (members.get(storm.id) ?? []).map(({ dedupKey }) => dedupKey);
    const last = over.get(keys.at(-1) ?? '');
    if (last !== undefined) await endStormMembers(unit, storm, { keys }, byOf(last.row));
  }
}

/** The incident of an alert that was opened under another key, before the setting of its source changed. */
async function incidentLeft(
  { stores }: UnitOfWork,
  { row, replaced }: EndedAlert,
  standing: readonly { readonly incidentId: Id<'incident'>; readonly isMember: boolean }[],
): Promise<Id<'incident'> | null> {
  const incidentId = replaced ?? row.incidentId;
  if (incidentId === null || standing.some((alert) => alert.isMember && alert.incidentId === incidentId)) return null;
  const others = await stores.alerts.listStillOpen([incidentId]);
  if (others.has(incidentId) && replaced === null) return null;
  return (await stores.storms.hasOpenMembers(incidentId)) ? null : incidentId;
}
