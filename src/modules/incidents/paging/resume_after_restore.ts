import { minutesStopped } from '#modules/policies/decide/escalation.ts';
import type { Log } from '#kernel/log.ts';
import { toTimestamp } from '#kernel/time.ts';
import { inUnitOfWork, type UnitOfWorkRuntime } from '#modules/unit_of_work.ts';

/**
 * The first pager after a restore calls this before it does anything else. The installation was away since the backup was
 * made: escalations go on from where they stopped, so that steps that came due meanwhile do not page everybody in the same
 * second, and the provider is asked about pages that may have left after the backup. Later calls change nothing.
 */
export async function resumeAfterRestore(runtime: UnitOfWorkRuntime, log: Log): Promise<void> {
  await inUnitOfWork(runtime, async ({ stores: { restorations, timeline }, now }) => {
    const snapshotAt = await restorations.lockWaiting();
    if (snapshotAt === null) return;
    const minutes = minutesStopped(snapshotAt, now);
    const pages = await restorations.markWaitingPagesUncertain();
    const news = minutes === 0 ? 0 : await restorations.cancelNews('restored', now);
    const waiting = minutes === 0 ? [] : await restorations.postponeSteps(minutes);
    const data = { snapshotAt: toTimestamp(snapshotAt), laterMinutes: minutes };
    await timeline.recordAll(
      waiting.map((incidentId) => ({ incidentId, event: 'restored', data })),
      now,
    );
    await restorations.markResumed(now);
    log.warn({ ...data, incidents: waiting.length, pages, news }, 'escalations continue after a restore');
  });
}
