import { isUnavailable } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import { isAtOrBefore, type Temporal, toTimestamp } from '#kernel/time.ts';
import { recordSystemChange } from '#modules/audit/system_change.ts';
import { isAtLeast } from '#modules/exceptions/decide/triage.ts';
import { endStormMembers, resolve } from '#modules/incidents/change_status.ts';
import type { IncidentLimit } from '#modules/incidents/decide/incident_limit.ts';
import type { IncidentActor } from '#modules/incidents/decide/incident.ts';
import { openIncidents } from '#modules/incidents/open_incidents.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import {
  decideCheckIn,
  decideOverdue,
  decideRescheduling,
  expectationText,
  overdueFrom,
} from '#modules/monitors/decide/monitor.ts';
import { readMonitor, scheduleFault } from '#modules/monitors/decide/schedule.ts';
import type { WaitingCheckIn } from '#modules/monitors/store/check_in_store.ts';
import type { MonitorRow, MonitorRun } from '#modules/monitors/store/monitor_store.ts';
import type { ExceptionRule } from '#modules/rules/decide/rule_kinds.ts';
import { settingsOf } from '#modules/rules/decide/rule_settings.ts';
import { divideRules } from '#modules/rules/set_aside_rule.ts';
import type { ActiveRule } from '#modules/rules/store/active_rule_store.ts';
import { refusalHour } from '#modules/services/store/ingest_counts.ts';
import { isTransient } from '#storage/postgres/faults.ts';
import { inUnitOfWork, storesOf, type UnitOfWork, type UnitOfWorkRuntime } from '#modules/stores.ts';

export interface MonitorRuntime extends UnitOfWorkRuntime {
  readonly log: Log;
  readonly incidentLimit: IncidentLimit;
}

/** Check-ins of one transaction. */
const BATCH = 100;
/** A run ends after so many; the rest waits for the next. */
const BATCHES_MAX = 20;
/** Runs of one monitor that have not ended. */
const RUNNING_MAX = 50;

/**
 * Looks at the check-ins that wait, in the order in which they came: runs begin and end, incidents open and are resolved.
 * A check-in vanishes in the transaction that has done what it means, so it counts once. More may wait afterwards.
 */
export async function takeCheckIns(runtime: MonitorRuntime, batchesMax = BATCHES_MAX): Promise<void> {
  for (let batch = 0; batch < batchesMax; batch += 1) {
    const waiting = await storesOf(runtime.db.session()).checkIns.listWaiting(BATCH);
    if (waiting.length === 0) return;
    if (!(await takeTogether(runtime, waiting))) return;
  }
}

/** Age of a check-in up to which it is looked at again after it has waited for a lock in vain. */
const AGAIN_WITHIN = { minutes: 10 };

/** Returns false if some have to be looked at again. */
async function takeTogether(runtime: MonitorRuntime, waiting: readonly WaitingCheckIn[]): Promise<boolean> {
  try {
    await take(runtime, waiting);
    return true;
  } catch (error) {
    if (isUnavailable(error)) throw error;
    const [only, ...others] = waiting;
    if (only === undefined) return true;
    if (others.length > 0) return await takeEach(runtime, waiting);
    const isRecent = isAtOrBefore(runtime.clock.now(), only.receivedAt.add(AGAIN_WITHIN));
    if (isTransient(error) && isRecent) return false;
    runtime.log.error({ err: error, serviceId: only.serviceId, slug: only.slug }, 'failed to process a check-in');
    await inUnitOfWork(runtime, async (unit) => {
      await unit.stores.checkIns.remove([only.number]);
      await countNotKept(unit, only, 'malformed');
    });
    return true;
  }
}

/** Takes each by itself. Those behind one that has to be looked at again wait with it: the order of a job's counts. */
async function takeEach(runtime: MonitorRuntime, waiting: readonly WaitingCheckIn[]): Promise<boolean> {
  const held = new Set<Id<'service'>>();
  for (const checkIn of waiting) {
    if (held.has(checkIn.serviceId)) continue;
    if (!(await takeTogether(runtime, [checkIn]))) held.add(checkIn.serviceId);
  }
  return held.size === 0;
}

async function take(runtime: MonitorRuntime, waiting: readonly WaitingCheckIn[]): Promise<void> {
  await inUnitOfWork(runtime, async (unit) => {
    const { checkIns } = unit.stores;
    const held = await checkIns.lock(waiting.map(({ number }) => number));
    for (const checkIn of held) await takeCheckIn(unit, checkIn, runtime.incidentLimit);
    await checkIns.remove(held.map(({ number }) => number));
  });
}

async function takeCheckIn(unit: UnitOfWork, checkIn: WaitingCheckIn, limit: IncidentLimit): Promise<void> {
  const { stores, now } = unit;
  const { orgId, serviceId, slug, status, durationMs, config, receivedAt } = checkIn;
  // Whoever ends a run by its id may name no environment, or another one: a script, or a process of its own.
  const isEnd = checkIn.isNamed && status !== 'in_progress';
  const begun = isEnd ? await stores.monitors.findEnvironment({ serviceId, slug }, checkIn.runId) : null;
  const name = { orgId, serviceId, slug, environment: begun ?? checkIn.environment };
  const creation = {
    byKey: checkIn.byKey,
    schedule: config?.schedule ?? null,
    onReplaced: async (id: Id<'monitor'>) => void (await resolveMonitorIncidents(unit, { id, serviceId })),
  };
  const stored = await stores.monitors.lockOrCreate(name, creation, now);
  if (typeof stored === 'string') return await countNotKept(unit, checkIn, stored);
  if (stored.keyOnly && !checkIn.byKey) return await countNotKept(unit, checkIn, 'key_only');
  const monitor = readMonitor(stored);
  const running = await stores.monitors.listRunning(monitor.id);
  const openRun = await findRun(unit, monitor, running, checkIn);
  if (openRun === null && status === 'in_progress' && running.length >= RUNNING_MAX) {
    return await countNotKept(unit, checkIn, 'too_many_running');
  }
  const last = await stores.monitors.findLastRuns(monitor.id);
  const decision = decideCheckIn(monitor, openRun, { status, durationMs, at: receivedAt, config }, last);
  const runId = openRun?.runId ?? checkIn.runId;
  const { run } = decision;
  if (run !== null) await stores.monitors.saveRun({ monitorId: monitor.id, runId, release: checkIn.release, ...run });
  const stillRunning = [
    ...running.filter((other) => other.runId !== runId),
    ...(run?.status === 'in_progress' ? [run] : []),
  ];
  const unchanged = run === null && openRun?.status === 'in_progress' ? [openRun] : [];
  const overdue = overdueFrom(decision.monitor, [...stillRunning, ...unchanged]);
  await stores.monitors.save(monitor.id, decision.monitor, overdue, now);
  if (run !== null && run.status !== 'in_progress') await stores.monitors.pruneRuns(monitor.id);
  const [wasUnreadable, isUnreadable] = [stored, decision.monitor].map(
    (monitor) => scheduleFault(monitor.schedule) !== null,
  );
  const isReadAgain = wasUnreadable === true && !decision.monitor.isFailing;
  if (isUnreadable !== true && (decision.change === 'recovers' || isReadAgain)) {
    await resolveMonitorIncidents(unit, monitor, RULE, 'runs');
  }
  await recordRescheduling(unit, stored, { ...stored, ...decision.monitor }, checkIn, limit);
  if (isUnreadable === true && wasUnreadable !== true && !monitor.isMuted) {
    const bad = { outcome: 'unreadable' as const, at: receivedAt };
    await openMonitorIncidents(unit, { ...monitor, ...decision.monitor }, bad, limit);
  }
  if (decision.change === 'fails' && !monitor.isMuted) {
    const bad = { outcome: 'error' as const, at: run?.startedAt ?? receivedAt };
    await openMonitorIncidents(unit, { ...monitor, ...decision.monitor }, bad, limit);
  }
}

/** Records a schedule that a check-in has changed, and reports it where runs are now expected later. */
async function recordRescheduling(
  unit: UnitOfWork,
  before: MonitorRow,
  after: MonitorRow,
  { receivedAt, byKey }: WaitingCheckIn,
  limit: IncidentLimit,
): Promise<void> {
  const change = decideRescheduling(before, after, receivedAt);
  if (change === null) return;
  const [from, to] = [expectationText(before), expectationText(after)];
  await recordSystemChange(unit, {
    orgId: before.orgId,
    action: 'reschedule_monitor',
    via: 'system',
    target: before.id,
    before: { schedule: from },
    after: { schedule: to, by: byKey ? 'a check-in with the ingestion key' : 'a check-in with the DSN' },
  });
  if (before.isMuted || byKey || change === 'other') return;
  await openMonitorIncidents(unit, after, { outcome: 'rescheduled', at: receivedAt, from }, limit);
}

/** The run that a check-in is about: the one it names, else the newest that has not ended. */
async function findRun(
  { stores }: UnitOfWork,
  monitor: MonitorRow,
  running: readonly MonitorRun[],
  { isNamed, runId, status }: WaitingCheckIn,
): Promise<MonitorRun | null> {
  if (!isNamed && status !== 'in_progress' && running[0] !== undefined) return running[0];
  return await stores.monitors.findRun(monitor.id, runId);
}

/** The ingest status of the service shows it. */
async function countNotKept({ stores, now }: UnitOfWork, { serviceId }: WaitingCheckIn, reason: string): Promise<void> {
  const hour = refusalHour(now);
  await stores.sentItems.add([{ serviceId, kind: 'check-in', reason, hour, count: 1, lastAt: now }]);
}

/**
 * Failure of a run, with the time at which it began or was to begin; or the time of a schedule that cannot be read, or
 * by which runs are expected later than `from`.
 */
type FailedRun =
  | { readonly outcome: 'error' | 'missed' | 'timeout' | 'unreadable'; readonly at: Temporal.Instant }
  | { readonly outcome: 'rescheduled'; readonly at: Temporal.Instant; readonly from: string };

const SEVERITY = 'error';
const RULE: IncidentActor = { system: true, via: 'rule' };

/** Returns the prefix of the keys of a monitor's incidents: of all, or of those about its runs, which a good run ends. */
function keyStartOf({ id }: Pick<MonitorRow, 'id'>, about: 'all' | 'runs'): string {
  return about === 'all' ? `monitor.${id}.` : `monitor.${id}.rule_`;
}

function keyOf({ id }: MonitorRow, ruleId: Id<'rule'>, { outcome }: FailedRun): string {
  return outcome === 'rescheduled' ? `monitor.${id}.schedule.${ruleId}` : `monitor.${id}.${ruleId}`;
}

/** Whether an exception rule opens incidents for runs that go wrong. */
export function opensMonitorIncidents({ config, settings }: Pick<ActiveRule, 'config' | 'settings'>): boolean {
  return isAtLeast(SEVERITY, (config as ExceptionRule).minSeverity) && settingsOf(settings).monitors === 'open';
}

/** Opens an incident for every exception rule of the service that cron monitors concern, or counts another occurrence. */
async function openMonitorIncidents(
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
        dedupKey: keyOf(monitor, rule.ruleId, bad),
        title: titleOf(monitor, bad),
        severity: SEVERITY,
        details: detailsOf(monitor, bad),
        sentence: sentenceOf(monitor, bad),
      },
    }));
  await openIncidents(unit, firings, limit);
}

/**
 * Resolves what the monitor has open, whichever rule opened it; returns these incidents. A good run resolves those about
 * `runs`: the one that a check-in has rescheduled the monitor stays, as the same stranger can send a good run as well.
 */
export async function resolveMonitorIncidents(
  unit: UnitOfWork,
  monitor: Pick<MonitorRow, 'id' | 'serviceId'>,
  by: IncidentActor = RULE,
  about: 'all' | 'runs' = 'all',
): Promise<IncidentRow[]> {
  const { incidents, storms } = unit.stores;
  const keyStart = keyStartOf(monitor, about);
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

const OVERDUE_BATCH = 200;

/**
 * Finds runs that were to begin and did not, and those that take too long, and opens their incidents. Each monitor is
 * decided about in a transaction of its own under its lock, so nothing is found twice. One that fails leaves the others.
 */
export async function findOverdue(runtime: MonitorRuntime): Promise<void> {
  const overdue = await storesOf(runtime.db.session()).monitors.listOverdue(runtime.clock.now(), OVERDUE_BATCH);
  const faults: unknown[] = [];
  for (const monitorId of overdue) {
    try {
      await inUnitOfWork(runtime, (unit) => decide(unit, monitorId, runtime));
    } catch (error) {
      faults.push(error);
    }
  }
  if (faults.length > 0) throw new AggregateError(faults, 'failed to check for overdue runs');
}

async function decide(
  unit: UnitOfWork,
  monitorId: Id<'monitor'>,
  { incidentLimit }: Pick<MonitorRuntime, 'incidentLimit'>,
): Promise<void> {
  const { stores, now } = unit;
  const stored = await stores.monitors.lockFree(monitorId);
  if (stored === null) return;
  const monitor = readMonitor(stored);
  if (monitor.schedule !== stored.schedule) return await setAside(unit, monitor, incidentLimit);
  const running = await stores.monitors.listRunning(monitorId);
  const decision = decideOverdue(monitor, running, now);
  const tooLong = running.filter(({ timeoutAt }) => timeoutAt !== null && isAtOrBefore(timeoutAt, now));
  if (decision.timedOut > 0) await stores.monitors.endTimedOut(monitorId, now);
  const { missedAt } = decision;
  if (missedAt !== null) {
    const run = { status: 'missed' as const, startedAt: missedAt, endedAt: now, timeoutAt: null, release: null };
    await stores.monitors.saveRun({ monitorId, runId: `missed-${missedAt.epochMilliseconds}`, ...run });
  }
  if (missedAt !== null || decision.timedOut > 0) await stores.monitors.pruneRuns(monitorId);
  const stillRunning = running.filter((run) => !tooLong.includes(run));
  await stores.monitors.save(monitorId, decision.monitor, overdueFrom(decision.monitor, stillRunning), now);
  if (decision.change !== 'fails' || monitor.isMuted) return;
  const late = tooLong[0];
  const bad: FailedRun | null =
    missedAt !== null
      ? { outcome: 'missed', at: missedAt }
      : late === undefined
        ? null
        : { outcome: 'timeout', at: late.startedAt };
  if (bad !== null) await openMonitorIncidents(unit, { ...monitor, ...decision.monitor }, bad, incidentLimit);
}

/** Stops expecting runs of a monitor whose schedule cannot be read; an incident says so. */
async function setAside(unit: UnitOfWork, monitor: MonitorRow, limit: IncidentLimit): Promise<void> {
  await unit.stores.monitors.save(monitor.id, { ...monitor, nextDueAt: null }, null, unit.now);
  if (!monitor.isMuted) await openMonitorIncidents(unit, monitor, { outcome: 'unreadable', at: unit.now }, limit);
}
