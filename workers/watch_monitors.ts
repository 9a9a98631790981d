import { findOverdue } from '#modules/monitors/find_overdue.ts';
import { type MonitorRuntime, takeCheckIns } from '#modules/monitors/take_check_ins.ts';
import { storesOf } from '#modules/stores.ts';

/**
 * Length of a gap after which check-ins may have waited on the disks of API processes, which come back within a minute.
 */
const GAP_SECONDS = 20;
const RETURN_SECONDS = 60;

/**
 * Looks at check-ins that have come, then for runs that are overdue. While a check-in of a monitor waits, and for a minute
 * after a time in which nobody looked or the database was away, no run of it counts as missed: what says otherwise may still
 * be on its way. Others' check-ins that wait, however many they are, change nothing about that.
 */
export async function watchMonitors(runtime: MonitorRuntime, batchesMax?: number): Promise<void> {
  const now = runtime.clock.now();
  const since = await storesOf(runtime.db.session()).monitors.watch(now, GAP_SECONDS);
  await takeCheckIns(runtime, batchesMax);
  const isBack = now.epochMilliseconds - since.epochMilliseconds >= RETURN_SECONDS * 1_000;
  if (isBack) await findOverdue(runtime);
}
