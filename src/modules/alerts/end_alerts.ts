import { isUnavailable } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import { toTimestamp } from '#kernel/time.ts';
import { type AlertQueue, dedupKeyOfAlert } from '#modules/alerts/view.ts';
import { NO_REPETITION, timeOfNext, withEvent } from '#modules/alerts/decide/alert_event.ts';
import { sourceSettingsOf } from '#modules/alerts/decide/source_settings.ts';
import type { AlertRow } from '#modules/alerts/store/alert_store.ts';
import { endStormMembers, resolve } from '#modules/incidents/change_status.ts';
import type { IncidentActor } from '#modules/incidents/decide/incident.ts';
import { inUnitOfWork, storesOf, type UnitOfWork, type UnitOfWorkRuntime } from '#modules/stores.ts';

/** An alert that is over; its row is saved as such. */
type EndedAlert = Pick<AlertQueue, 'source' | 'row'> & {
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

const SERVICES_MAX = 200;
const BATCH = 200;

/**
 * Finds open alerts that nobody has repeated within their lease. They are shown as without word, or resolved as such where
 * their source says so; nobody is paged. A service that fails now delays none of the others.
 */
export async function endSilentAlerts(runtime: UnitOfWorkRuntime & { readonly log: Log }): Promise<void> {
  const { alerts } = storesOf(runtime.db.session());
  for (const serviceId of await alerts.listSilentServices(runtime.clock.now(), SERVICES_MAX)) {
    try {
      await inUnitOfWork(runtime, (unit) => endOfService(unit, serviceId));
    } catch (error) {
      if (isUnavailable(error)) throw error;
      runtime.log.error({ serviceId, err: error }, 'failed to look at alerts without word');
    }
  }
}

async function endOfService(unit: UnitOfWork, serviceId: Id<'service'>): Promise<void> {
  const { stores, now } = unit;
  await stores.alerts.hold([serviceId]);
  const silent = await stores.alerts.listSilent(serviceId, now, BATCH);
  if (silent.length === 0) return;
  const sources = new Map((await stores.alertSources.list(serviceId)).map((source) => [source.id, source]));
  const ended: EndedAlert[] = [];
  const changed: AlertRow[] = [];
  for (const alert of silent) {
    const row = sources.get(alert.sourceId);
    const settings = sourceSettingsOf(row?.settings ?? {});
    if (row === undefined || settings.onSilence === 'keep') {
      changed.push({ ...alert, silentSince: alert.lastSeenAt });
      continue;
    }
    const at = timeOfNext(alert.history, 'resolve');
    const history = at === null ? alert.history : withEvent(alert.history, { at, action: 'resolve' });
    const resolved = { ...alert, status: 'resolved' as const, history, leaseUntil: null, settledAt: now };
    changed.push(resolved);
    const source = { row, settings, learns: false, repetition: NO_REPETITION, accepted: 0 };
    ended.push({ row: resolved, source, replaced: null });
  }
  await stores.alerts.saveAll(changed);
  for (const { incidentId, tool, lastSeenAt } of changed) {
    if (incidentId === null) continue;
    await stores.timeline.record(incidentId, 'no_word', { tool, since: toTimestamp(lastSeenAt) }, now);
  }
  await endAlerts(unit, ended, ({ tool }) => ({ system: true, via: 'alert', because: 'no_word', tool }));
}
