import type { IncidentLimit } from '#modules/incidents/decide/incident_limit.ts';
import { decideCheckIn, decideRescheduling, expectationText, overdueFrom } from '#modules/monitors/decide/monitor.ts';
import { readMonitor, scheduleFault } from '#modules/monitors/decide/schedule.ts';
import { openMonitorIncidents, resolveMonitorIncidents } from '#modules/monitors/monitor_incidents.ts';
import { isUnavailable } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { WaitingCheckIn } from '#modules/monitors/store/check_in_store.ts';
import { refusalHour } from '#modules/services/store/ingest_refusal_store.ts';
import type { MonitorRow, MonitorRun } from '#modules/monitors/store/monitor_store.ts';
import { inUnitOfWork, storesOf, type UnitOfWork, type UnitOfWorkRuntime } from '#modules/stores.ts';
import { recordSystemChange } from '#modules/audit/system_change.ts';

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
    await takeTogether(runtime, waiting);
  }
}

async function takeTogether(runtime: MonitorRuntime, waiting: readonly WaitingCheckIn[]): Promise<void> {
  try {
    await take(runtime, waiting);
  } catch (error) {
    if (isUnavailable(error)) throw error;
    const [only, ...others] = waiting;
    if (only === undefined) return;
    if (others.length > 0) {
      for (const checkIn of waiting) await takeTogether(runtime, [checkIn]);
      return;
    }
    runtime.log.error({ err: error, serviceId: only.serviceId, slug: only.slug }, 'failed to process a check-in');
    await inUnitOfWork(runtime, async (unit) => {
      await unit.stores.checkIns.remove([only.number]);
      await countNotKept(unit, only, 'malformed');
    });
  }
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
  const { byKey } = checkIn;
  const stored = await stores.monitors.lockOrCreate(name, { byKey, schedule: config?.schedule ?? null }, now);
  if (typeof stored === 'string') return await countNotKept(unit, checkIn, stored);
  if (stored.keyOnly && !checkIn.byKey) return await countNotKept(unit, checkIn, 'key_only');
  const monitor = readMonitor(stored);
  const running = await stores.monitors.listRunning(monitor.id);
  const openRun = await findRun(unit, monitor, running, checkIn);
  if (openRun === null && status === 'in_progress' && running.length >= RUNNING_MAX) {
    return await countNotKept(unit, checkIn, 'too_many_running');
  }
  const decision = decideCheckIn(monitor, openRun, { status, durationMs, at: receivedAt, config });
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
    await resolveMonitorIncidents(unit, monitor);
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
