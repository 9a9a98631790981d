import type { Channel } from '#core/oncall/channel.ts';
import { WATCHED_WORK } from '#core/oncall/pager_health.ts';
import { type Connections, type Foundation, openFoundation } from '#entry/foundation.ts';
import type { RunningConfig } from '#entry/running_config.ts';
import { restartTimers } from '#incidents/restart_timers.ts';
import type { Log } from '#kernel/log.ts';
import type { Senders } from '#notify/registry.ts';
import type { UnitOfWorkRuntime } from '#storage/postgres/unit_of_work.ts';
import { onDeliverPage } from '#workers/deliver_page.ts';
import { onRunEscalationStep } from '#workers/run_escalation_step.ts';
import { type Role, runRole, type StartedRole } from '#workers/run_role.ts';
import { sendHeartbeat } from '#workers/send_heartbeat.ts';
import { openSweep } from '#workers/sweep_due.ts';

/** Enough for what it does at once. A step whose incident is locked by a process that hangs is left to the next sweep. */
const CONNECTIONS: Connections = { database: 16, queue: 4, lockWaitMsMax: 2_000 };

/** Whatever data arrives, this process does not read it. */
export async function startPager(config: RunningConfig, log: Log): Promise<StartedRole> {
  const foundation = await openFoundation(config, { log, connections: CONNECTIONS });
  return { running: runRole(foundation, pagerRole(foundation)), close: () => foundation.close() };
}

export interface PagerRuntime extends UnitOfWorkRuntime {
  readonly log: Log;
  readonly senders: Senders;
  /** The channels that the operator has set up. */
  readonly configured: ReadonlySet<Channel>;
  /** The watchdog that is told that pages leave in time; undefined for none. */
  readonly heartbeatUrl: string | undefined;
}

export function pagerRuntime({ db, clock, log, outbox, senders, config }: Foundation): PagerRuntime {
  return {
    db,
    clock,
    log,
    onOutbox: () => outbox.wake(),
    senders,
    configured: new Set(senders.keys()),
    heartbeatUrl: config.heartbeatUrl,
  };
}

/** Whatever delays the jobs of others, no page waits for much longer than this. */
const SWEEP_MS = 1_000;
/** A process that opened an incident and hangs or died before it published leaves that to this one. */
const OUTBOX_MS = 1_000;

/** What gets people out of bed, and nothing else: it fires steps, sends pages, and says whether they leave in time. */
export function pagerRole(foundation: Foundation, runtime = pagerRuntime(foundation)): Role {
  const { heartbeatUrl } = runtime;
  const [rounds] = WATCHED_WORK.pager;
  const sweep = openSweep(runtime);
  return {
    name: 'pager',
    handlers: [onRunEscalationStep(runtime), onDeliverPage(runtime)],
    periodic: [
      { name: rounds, everySeconds: 10, run: () => restartTimers(runtime) },
      ...(heartbeatUrl === undefined
        ? []
        : [{ name: 'send_heartbeat', everySeconds: 60, run: () => sendHeartbeat(runtime, heartbeatUrl) }]),
    ],
    ticks: [
      { name: 'sweep_steps', everyMs: SWEEP_MS, run: () => sweep.sweepSteps() },
      { name: 'sweep_messages', everyMs: SWEEP_MS, run: () => sweep.sweepMessages() },
      { name: 'publish_outbox', everyMs: OUTBOX_MS, run: () => foundation.outbox.publishAll() },
    ],
    settled: () => sweep.settled(),
  };
}
