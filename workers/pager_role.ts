import { setTimeout as delay } from 'node:timers/promises';

import type { Channel } from '#modules/contacts/decide/channel.ts';
import { WATCHED_WORK } from '#modules/notifications/decide/pager_health.ts';
import { type Connections, type Foundation, openFoundation } from '#entry/foundation.ts';
import type { RunningConfig } from '#entry/running_config.ts';
import { resumeAfterRestore } from '#modules/incidents/paging/resume_after_restore.ts';
import { repageStale } from '#modules/incidents/paging/repage_stale.ts';
import { restartTimers } from '#modules/incidents/paging/schedule_steps.ts';
import type { LatencyHistograms } from '#kernel/latency_histograms.ts';
import type { Log } from '#kernel/log.ts';
import { retryWhileUnavailable } from '#kernel/retry.ts';
import type { Senders } from '#notify/registry.ts';
import type { UnitOfWorkRuntime } from '#modules/unit_of_work.ts';
import { type Role, runRole, type StartedRole } from '#workers/run_role.ts';
import { sendHeartbeat } from '#workers/send_heartbeat.ts';
import { openSweep } from '#workers/sweep_due.ts';
import { type DeliveryRuntime, sendNotification } from '#modules/incidents/paging/send_notification.ts';
import { deliverPage, runEscalationStep } from '#storage/queue/jobs.ts';
import { asId, newId } from '#kernel/ids.ts';
import { handleJob, type JobHandler } from '#storage/queue/job_workers.ts';
import { type EscalationRuntime, fireStep } from '#modules/incidents/paging/fire_step.ts';
import type { Clock, Temporal } from '#kernel/time.ts';

/**
 * Longest wait for work that is nearly due: synchronized machines differ by less. Work that is due later is left to the
 * sweep.
 */
const WAIT_MS_MAX = 250;

/**
 * Runs the work. If it says that it is due in a moment, waits until then and runs it once more: the queue wakes this
 * process by the clocks of other machines, which may be a little ahead of the clock of the database.
 *
 * @param work returns when it is due, or null when nothing is left to do
 */
async function runWhenDue(clock: Clock, work: () => Promise<Temporal.Instant | null>): Promise<void> {
  const dueAt = await work();
  if (dueAt === null) return;
  const waitMs = dueAt.epochMilliseconds - clock.now().epochMilliseconds;
  if (waitMs > WAIT_MS_MAX) return;
  await delay(waitMs + 1);
  await work();
}

export const onRunEscalationStep = (runtime: EscalationRuntime): JobHandler =>
  handleJob(runEscalationStep, async ({ incidentId, stepIndex }) => {
    await runWhenDue(runtime.clock, () => fireStep(runtime, asId('incident', incidentId), stepIndex));
  });

const onDeliverPage = (runtime: DeliveryRuntime): JobHandler =>
  handleJob(deliverPage, async ({ notificationId }) => {
    await runWhenDue(runtime.clock, () => sendNotification(runtime, asId('notification', notificationId)));
  });

/**
 * Connections of the pager, enough for its concurrent work. A step whose incident is locked by a process that hangs is
 * left to the next sweep.
 */
const CONNECTIONS: Connections = { database: 16, queue: 4, lockWaitMsMax: 2_000 };

/** A database that is starting answers within this time; after it, the supervisor starts this process again. */
const RESUME_RETRY = { pauseMs: 200, timeoutMs: 30_000 };

/** Starts the pager, which never reads data that was sent. */
export async function startPager(config: RunningConfig, log: Log): Promise<StartedRole> {
  const foundation = await openFoundation(config, { log, connections: CONNECTIONS });
  // Nobody waits for them with their first page.
  await Promise.all([...foundation.senders.values()].map((sender) => sender.load()));
  await retryWhileUnavailable(() => resumeAfterRestore(pagerRuntime(foundation), log), RESUME_RETRY);
  return {
    running: runRole(foundation, pagerRole(foundation)),
    stores: foundation,
    close: () => foundation.close(),
  };
}

export interface PagerRuntime extends UnitOfWorkRuntime {
  readonly log: Log;
  readonly senders: Senders;
  /** The channels that the operator has set up. */
  readonly configured: ReadonlySet<Channel>;
  /** The external watchdog that gets heartbeats; undefined for none. */
  readonly heartbeatUrl: string | undefined;
  readonly latencies: LatencyHistograms;
}

export function pagerRuntime({
  db,
  clock,
  log,
  outbox,
  senders,
  config,
  latencies,
  reachedLimits,
}: Foundation): PagerRuntime {
  return {
    db,
    clock,
    log,
    onOutbox: () => outbox.wake(),
    senders,
    configured: new Set(senders.keys()),
    heartbeatUrl: config.heartbeatUrl,
    latencies,
    reachedLimits,
  };
}

/** Interval of the sweep: no page waits for much longer than this, even when the jobs are late. */
const SWEEP_MS = 1_000;
/** Publishes the jobs of a process that opened an incident and died or hangs. */
const OUTBOX_MS = 1_000;

/** Pages people, and does nothing else: it fires steps, sends messages, and reports whether they leave in time. */
export function pagerRole(foundation: Foundation, runtime = pagerRuntime(foundation)): Role {
  const { heartbeatUrl } = runtime;
  const [restartTimersName] = WATCHED_WORK.pager;
  const sweep = openSweep(runtime);
  return {
    name: 'pager',
    handlers: [onRunEscalationStep(runtime), onDeliverPage(runtime)],
    shared: [],
    periodic: [
      { name: restartTimersName, everySeconds: 10, run: () => restartTimers(runtime) },
      { name: 'repage_stale', everySeconds: 10, run: () => repageStale(runtime) },
      ...(heartbeatUrl === undefined
        ? []
        : [{ name: 'send_heartbeat', everySeconds: 60, run: () => sendHeartbeat(runtime, heartbeatUrl) }]),
    ],
    ticks: [
      { name: 'sweep_steps', everyMs: SWEEP_MS, run: () => sweep.sweepSteps() },
      { name: 'sweep_messages', everyMs: SWEEP_MS, run: () => sweep.sweepMessages() },
      { name: 'publish_outbox', everyMs: OUTBOX_MS, run: () => foundation.outbox.publishAll() },
    ],
    holder: newId('job'),
    settled: () => sweep.settled(),
  };
}
