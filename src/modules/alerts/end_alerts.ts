import { isUnavailable } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import { toTimestamp } from '#kernel/time.ts';
import { type AlertQueue, dedupKeyOfAlert } from '#modules/alerts/view.ts';
import { incidentKeyOf } from '#modules/alerts/decide/alert_change.ts';
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

const NONE: ReadonlySet<string> = new Set();

/**
 * Resolves the incidents of alerts that are over, each in the name that `byOf` says. An incident ends with the last of its
 * alerts, unless another one is about to open under its key; a storm, with its last member. The alerts are stored already.
 */
export async function endAlerts(
  unit: UnitOfWork,
  ended: readonly EndedAlert[],
  byOf: (row: AlertRow) => IncidentActor,
  openingKeys: ReadonlySet<string> = NONE,
): Promise<void> {
  const byIncident = Map.groupBy(ended, ({ row, replaced }) => replaced ?? row.incidentId);
  const incidentIds = [...byIncident.keys()].filter((id) => id !== null);
  if (incidentIds.length === 0) return;
  const { alerts, incidents } = unit.stores;
  const keys = new Map((await alerts.listIncidentKeys(incidentIds)).map((named) => [named.incidentId, named]));
  const open = await openKeysOf(unit, incidentIds);
  for (const incident of (await incidents.lockAll(incidentIds)).values()) {
    const over = byIncident.get(incident.id) ?? [];
    const named = keys.get(incident.id);
    const last = over.at(-1);
    if (named === undefined || last === undefined) continue;
    const by = byOf(last.row);
    const openKeys = open.get(incident.id) ?? NONE;
    const isLast = openKeys.size === 0;
    if (!named.isStorm) {
      const isReplaced = over.some(({ replaced }) => replaced !== null);
      if (isReplaced || (isLast && !openingKeys.has(named.dedupKey))) await resolve(unit, incident, by);
      continue;
    }
    const ending = over.flatMap((alert) => {
      const key = dedupKeyOfAlert(alert);
      return alert.replaced === null && (openKeys.has(key) || openingKeys.has(key)) ? [] : [key];
    });
    // Members have the keys that they joined with: the setting of a source may have changed since.
    if (isLast && ending.length === over.length) await resolve(unit, incident, by);
    else if (ending.length > 0) await endStormMembers(unit, incident, { keys: ending }, by);
  }
}

/** Keys of the groups of the alerts that are open, by their incident; an empty key for those of no group. */
async function openKeysOf(
  { stores }: UnitOfWork,
  incidentIds: readonly Id<'incident'>[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const byIncident = new Map<string, Set<string>>();
  for (const { incidentId, groupKey, ...named } of await stores.alerts.listOpenGroups(incidentIds)) {
    const key = groupKey === null ? '' : incidentKeyOf({ ...named, key: '', groupKey }, { incidentsPer: 'group' });
    const keys = byIncident.get(incidentId) ?? new Set();
    byIncident.set(incidentId, keys.add(key));
  }
  return byIncident;
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
