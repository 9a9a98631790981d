import { setTimeout as delay } from 'node:timers/promises';

import { checkPager, type Connections, type Foundation, openFoundation } from '#entry/foundation.ts';
import type { RunningConfig } from '#entry/config.ts';
import { messageOf } from '#kernel/errors.ts';
import { asId, newId } from '#kernel/ids.ts';
import type { LatencyHistograms } from '#kernel/latency_histograms.ts';
import type { Log } from '#kernel/log.ts';
import { retryWhileUnavailable } from '#kernel/promises.ts';
import type { Clock, Temporal } from '#kernel/time.ts';
import { type Channel, CHANNELS } from '#modules/contacts/decide/channel.ts';
import { type EscalationRuntime, fireStep } from '#modules/incidents/paging/fire_step.ts';
import { expireAcknowledgements } from '#modules/incidents/paging/acknowledgement_timeout.ts';
import { restartTimers, resumeAfterRestore } from '#modules/incidents/paging/schedule_steps.ts';
import { type DeliveryRuntime, sendNotification } from '#modules/incidents/paging/send_notification.ts';
import type { DueStep } from '#modules/incidents/store/step_timer_store.ts';
import { WATCHED_WORK } from '#modules/notifications/decide/pager_health.ts';
import type { DueMessage } from '#modules/notifications/store/delivery_store.ts';
import { storesOf, type UnitOfWorkRuntime } from '#modules/stores.ts';
import type { Senders } from '#notify/registry.ts';
import type { Database } from '#storage/postgres/database.ts';
import { handleJob, type JobHandler } from '#storage/queue/job_workers.ts';
import { deliverPage, runEscalationStep } from '#storage/queue/jobs.ts';
import { PerOrganizationQueue } from '#workers/per_organization_queue.ts';
import { type Role, runRole, type StartedRole } from '#workers/run_role.ts';

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
 * left to the next sweep, and one that is frozen holds its locks no longer than its messages.
 */
const CONNECTIONS: Connections = { database: 16, queue: 4, lockWaitMsMax: 2_000, idleMsMax: 2_000 };

/** A database that is starting answers within this time; after it, the supervisor starts this process again. */
const RESUME_RETRY = { pauseMs: 200, timeoutMs: 30_000 };

/** Starts the pager, which never reads data that was sent. */
export async function startPager(config: RunningConfig, log: Log): Promise<StartedRole> {
  const foundation = await openFoundation(config, { log, connections: CONNECTIONS });
  // Nobody waits for them with their first page.
  await Promise.all([...foundation.senders.values()].map((sender) => sender.load()));
  await retryWhileUnavailable(() => resumeAfterRestore(pagerRuntime(foundation), log), RESUME_RETRY);
  return { running: runRole(foundation, pagerRole(foundation)), stores: foundation, close: () => foundation.close() };
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
      { name: 'repage_stale', everySeconds: 10, run: () => expireAcknowledgements(runtime) },
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

interface HeartbeatRuntime {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
}

const TIMEOUT_MS = 10_000;

/**
 * Tells an external watchdog that pages leave in time, and sends nothing while they do not: a watchdog that gets no
 * heartbeat alerts people by other means. The address is a secret and is never logged.
 */
export async function sendHeartbeat({ db, clock, log }: HeartbeatRuntime, url: string): Promise<void> {
  const { alarms } = await checkPager({ db, clock });
  if (alarms.length > 0) {
    log.error({ problems: alarms }, 'pages are late, so no heartbeat is sent');
    return;
  }
  try {
    const { address, headers } = withoutCredentials(url);
    const response = await fetch(address, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
    await response.body?.cancel();
    if (!response.ok) log.warn({ status: response.status }, 'the heartbeat was refused');
  } catch (error) {
    log.warn({ err: messageOf(error) }, 'the heartbeat could not be sent');
  }
}

/** Moves the user and password of an address into a header: `fetch` takes no address that has them. */
function withoutCredentials(url: string): { address: URL; headers: Record<string, string> } {
  const address = new URL(url);
  const { username, password } = address;
  if (username === '' && password === '') return { address, headers: {} };
  Object.assign(address, { username: '', password: '' });
  const account = [username, password].map(decodeURIComponent).join(':');
  return { address, headers: { authorization: `Basic ${Buffer.from(account).toString('base64')}` } };
}

type SweepingRuntime = EscalationRuntime & DeliveryRuntime;

/**
 * Delay after which overdue work has lost its job, waits behind the jobs of others, or was claimed by a process that
 * died or hangs. Normally a job runs within a tenth of it.
 */
const GRACE_MS = 300;
const BATCH = 500;

/** Finds overdue work for which no job has come. */
interface Sweep {
  /** Starts to fire every step that is overdue. */
  sweepSteps(): Promise<void>;
  /** Starts to send every message that is overdue. */
  sweepMessages(): Promise<void>;
  /** Resolves once everything that was started has ended. */
  settled(): Promise<void>;
}

/**
 * Fires overdue steps and sends overdue messages without the queue. So no page is lost when the queue store is lost, and
 * none waits behind the jobs of others. Organizations have equal turns, and a provider that does not answer delays no
 * other channel. Nothing happens twice, because steps and messages
 * are claimed.
 */
export function openSweep(runtime: SweepingRuntime, graceMs = GRACE_MS): Sweep {
  const { log } = runtime;
  const steps = new PerOrganizationQueue<DueStep>(
    ({ incidentId, stepIndex }) => fireStep(runtime, incidentId, stepIndex),
    log,
  );
  const queueOf = new Map(
    CHANNELS.map((channel) => [
      channel,
      new PerOrganizationQueue<DueMessage>(({ id }) => sendNotification(runtime, id), log),
    ]),
  );
  const overdue = () => runtime.clock.now().subtract({ milliseconds: graceMs });
  const stores = () => storesOf(runtime.db.session());
  return {
    async sweepSteps() {
      steps.start(await stores().stepTimers.listDueSteps(overdue(), BATCH));
    },
    async sweepMessages() {
      const due = await stores().deliveries.listDue(overdue(), BATCH);
      for (const [channel, messages] of Map.groupBy(due, (message) => message.channel)) {
        queueOf.get(channel)?.start(messages);
      }
    },
    async settled() {
      await Promise.all([steps, ...queueOf.values()].map((queue) => queue.settled()));
    },
  };
}

/** Runs one sweep from start to end. */
export async function sweepDue(runtime: SweepingRuntime, graceMs?: number): Promise<void> {
  const sweep = openSweep(runtime, graceMs);
  await sweep.sweepSteps();
  await sweep.settled();
  await sweep.sweepMessages();
  await sweep.settled();
}
