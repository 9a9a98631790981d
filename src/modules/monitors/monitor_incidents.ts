import { isAtLeast } from '#modules/exceptions/decide/triage.ts';
import type { ExceptionRule } from '#modules/rules/decide/rule_kinds.ts';
import type { IncidentActor } from '#modules/incidents/decide/incident.ts';
import type { IncidentLimit } from '#modules/incidents/decide/incident_limit.ts';
import { settingsOf } from '#modules/rules/decide/rule_settings.ts';
import { expectationText } from '#modules/monitors/decide/monitor.ts';
import { scheduleFault } from '#modules/monitors/decide/schedule.ts';
import { openIncidents } from '#modules/incidents/open_incidents.ts';
import { divideRules } from '#modules/rules/set_aside_rule.ts';
import { endStormMembers, resolve } from '#modules/incidents/change_status.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';
import type { ActiveRule } from '#modules/rules/store/active_rule_store.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import type { MonitorRow } from '#modules/monitors/store/monitor_store.ts';
import type { UnitOfWork } from '#modules/stores.ts';

/**
 * Failure of a run, with the time at which it began or was to begin; or the time of a schedule that cannot be read, or
 * by which runs are expected later than `from`.
 */
export type FailedRun =
  | { readonly outcome: 'error' | 'missed' | 'timeout' | 'unreadable'; readonly at: Temporal.Instant }
  | { readonly outcome: 'rescheduled'; readonly at: Temporal.Instant; readonly from: string };

const SEVERITY = 'error';

/** Returns the prefix of the keys of all incidents of a monitor. */
function keyStartOf({ id }: Pick<MonitorRow, 'id'>): string {
  return `monitor.${id}.`;
}

/** Whether an exception rule opens incidents for runs that go wrong. */
export function opensMonitorIncidents({ config, settings }: Pick<ActiveRule, 'config' | 'settings'>): boolean {
  return isAtLeast(SEVERITY, (config as ExceptionRule).minSeverity) && settingsOf(settings).monitors === 'open';
}

/** Opens an incident for every exception rule of the service that cron monitors concern, or counts another occurrence. */
export async function openMonitorIncidents(
  unit: UnitOfWork,
  monitor: MonitorRow,
  bad: FailedRun,
  limit: IncidentLimit,
): Promise<void> {
  const rules = await unit.stores.activeRules.list('exception', { serviceIds: [monitor.serviceId] });
  const { readable } = divideRules('exception', rules);
  const firings = readable
    .filter(opensMonitorIncidents)
    .map((rule) => ({
      rule,
      cause: {
        kind: 'exception' as const,
        exceptionGroupId: null,
        dedupKey: `${keyStartOf(monitor)}${rule.ruleId}${bad.outcome === 'rescheduled' ? '.schedule' : ''}`,
        title: titleOf(monitor, bad),
        severity: SEVERITY,
        details: detailsOf(monitor, bad),
        sentence: sentenceOf(monitor, bad),
      },
    }));
  await openIncidents(unit, firings, limit);
}

/** Resolves what the monitor has open, whichever rule opened it; returns these incidents. */
export async function resolveMonitorIncidents(
  unit: UnitOfWork,
  monitor: Pick<MonitorRow, 'id' | 'serviceId'>,
  by: IncidentActor = { system: true, via: 'rule' },
): Promise<IncidentRow[]> {
  const { incidents, storms } = unit.stores;
  const keyStart = keyStartOf(monitor);
  const resolved = await incidents.lockOpenWithKey(monitor.serviceId, keyStart);
  for (const incident of resolved) await resolve(unit, incident, by);
  const open = await incidents.lockAll(await storms.listWithKey(monitor.serviceId, keyStart));
  for (const storm of open.values()) if (await endStormMembers(unit, storm, { keyStart }, by)) resolved.push(storm);
  return resolved;
}

/** Returns the name of a monitor, such as `nightly-backup (staging)`. */
function nameOf({ slug, environment }: MonitorRow): string {
  return `${slug} (${environment})`;
}

const UNREADABLE = 'sent a schedule that cannot be read';

function titleOf(monitor: MonitorRow, { outcome }: FailedRun): string {
  const what = {
    error: 'failed',
    missed: 'missed a run',
    timeout: 'ran too long',
    unreadable: UNREADABLE,
    rescheduled: RESCHEDULED,
  }[outcome];
  return `Cron monitor ${nameOf(monitor)} ${what}`;
}

const RESCHEDULED = 'was rescheduled by a check-in';

function sentenceOf(monitor: MonitorRow, bad: FailedRun): string {
  const { outcome, at } = bad;
  if (outcome === 'rescheduled') {
    return `a check-in with the DSN, which is public, has set when runs of ${nameOf(monitor)} are expected from "${bad.from}" to "${expectationText(monitor)}": if that was not you, set the schedule on the page of the service`;
  }
  if (outcome === 'unreadable') {
    return `${nameOf(monitor)} ${UNREADABLE}, so no run is expected of it: ${scheduleFault(monitor.schedule) ?? ''}`;
  }
  const { marginMinutes, runtimeMinutes } = monitor;
  const run = `the run of ${nameOf(monitor)} at ${toTimestamp(at)}`;
  switch (outcome) {
    case 'error':
      return `${run} failed`;
    case 'missed':
      return `${run} did not begin within ${marginMinutes} min`;
    case 'timeout':
      return `${run} did not end within ${runtimeMinutes} min`;
  }
}

function detailsOf({ id, slug, environment, failures }: MonitorRow, { outcome, at }: FailedRun): object {
  return { monitorId: id, monitor: slug, environment, outcome, runAt: toTimestamp(at), failuresInARow: failures };
}
