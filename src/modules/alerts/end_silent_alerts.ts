import { NO_REPETITION } from '#modules/alerts/decide/lease.ts';
import { sourceSettingsOf } from '#modules/alerts/decide/source_settings.ts';
import { withEvent, timeOfNext } from '#modules/alerts/decide/alert_history.ts';
import { endAlerts, type EndedAlert } from '#modules/alerts/end_alerts.ts';
import { isUnavailable } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import { toTimestamp } from '#kernel/time.ts';
import type { AlertRow } from '#modules/alerts/store/alert_store.ts';
import { storesOf } from '#modules/stores.ts';
import { inUnitOfWork, type UnitOfWork, type UnitOfWorkRuntime } from '#modules/unit_of_work.ts';

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
