import { decideOverdue, overdueFrom } from '#modules/monitors/decide/monitor.ts';
import { readMonitor } from '#modules/monitors/decide/schedule.ts';
import type { IncidentLimit } from '#modules/incidents/decide/incident_limit.ts';
import type { MonitorRuntime } from '#modules/monitors/take_check_ins.ts';
import { type FailedRun, openMonitorIncidents } from '#modules/monitors/monitor_incidents.ts';
import type { Id } from '#kernel/ids.ts';
import { isAtOrBefore } from '#kernel/time.ts';
import type { MonitorRow } from '#modules/monitors/store/monitor_store.ts';
import { inUnitOfWork, storesOf, type UnitOfWork } from '#modules/stores.ts';

const BATCH = 200;

/**
 * Finds runs that were to begin and did not, and those that take too long, and opens their incidents. Each monitor is
 * decided about in a transaction of its own under its lock, so nothing is found twice. One that fails leaves the others.
 */
export async function findOverdue(runtime: MonitorRuntime): Promise<void> {
  const overdue = await storesOf(runtime.db.session()).monitors.listOverdue(runtime.clock.now(), BATCH);
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
