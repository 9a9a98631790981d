import { handsOverShare, shardOwner, SHARDS, shardsOf } from '#storage/queue/shards.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { type Clock, Temporal } from '#kernel/time.ts';
import type { Database } from '#storage/postgres/database.ts';
import { WorkerStore } from '#storage/postgres/worker_store.ts';
import { startTicker, type Ticker } from '#workers/ticker.ts';

/** Work that all processes of a role share: each does the shards that fall to it, from time to time. */
export interface ShardedJob {
  readonly name: string;
  readonly everySeconds: number;
  /** Runs safely twice, for the same shards and at the same time. */
  run(shards: Shards): Promise<void>;
}

/** Shards of the work; null for all of them. */
export type Shards = readonly number[] | null;

interface ShardingRuntime {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly holder: string;
}

/** Knowledge of a process about the others of its role. */
export interface RoleMembership extends Ticker {
  /**
   * Whether this process should do periodic work with this period now. In each period one process of the role is chosen;
   * a process that knows of no other is always chosen.
   */
  isLeader(everyMs: number): boolean;
}

const RENEW_MS = 500;
/** The others take over from a process that is silent for so long: within 2.5 s of its death, with the time to notice. */
const ALIVE = Temporal.Duration.from({ seconds: 2 });

interface State {
  readonly work: ShardedJob;
  /** Members that took part when it last began. */
  members: string;
  beganAt: Temporal.Instant | null;
  failingSince: Temporal.Instant | null;
  /** Time up to which each of the others has done its share. */
  othersDoneAt: readonly (Temporal.Instant | null)[];
  running: Promise<void> | null;
}

/**
 * Reports twice a second that this process is alive, and does its share of each work when it is due again, and at once
 * when a member has joined or left. A process that stops leaves, so that the others need not detect it. What a member held
 * that was silent for too long is free then, and `onFreed` is called.
 */
export function startShardedJobs(
  runtime: ShardingRuntime,
  role: string,
  works: readonly ShardedJob[],
  onFreed: () => void = () => {},
): RoleMembership {
  const { db, clock, log, holder } = runtime;
  const states = works.map((work): State => {
    return { work, members: '', beganAt: null, failingSince: null, othersDoneAt: [], running: null };
  });
  let ofRole: readonly string[] = [holder];
  const ticker = startTicker(RENEW_MS, async () => {
    try {
      const before = ofRole;
      ofRole = await renewAndRun(runtime, role, states);
      if (before.some((member) => !ofRole.includes(member))) {
        await new WorkerStore(db.session()).freeLapsed(role, clock.now());
        onFreed();
      }
    } catch (error) {
      log.warn({ err: messageOf(error) }, 'failed to list the processes that share the work');
    }
  });
  return {
    isLeader: (everyMs) => {
      const period = Math.floor(clock.now().epochMilliseconds / everyMs);
      return ofRole.length === 1 || shardOwner(period % SHARDS, ofRole) === holder;
    },
    async stop() {
      await ticker.stop();
      for (const { running } of states) await running;
      const names = [role, ...works.map(({ name }) => name)];
      try {
        await new WorkerStore(db.session()).leave(names, holder);
      } catch (error) {
        log.warn({ err: messageOf(error) }, 'failed to leave shared work; the others find out in seconds');
      }
    },
  };
}

/** Returns who is alive of the role. */
async function renewAndRun(runtime: ShardingRuntime, role: string, states: readonly State[]): Promise<string[]> {
  const { db, clock, holder } = runtime;
  const now = clock.now();
  const isLeft = ({ failingSince, othersDoneAt }: State): boolean => handsOverShare(failingSince, othersDoneAt, now);
  const namesOf = (some: readonly State[]): string[] => some.map(({ work }) => work.name);
  const works = [role, ...namesOf(states.filter((state) => !isLeft(state)))];
  const times = { now, aliveUntil: now.add(ALIVE) };
  const shares = await new WorkerStore(db.session()).renew(
    { works, left: namesOf(states.filter(isLeft)) },
    holder,
    times,
  );
  const others = Map.groupBy(shares, ({ work }) => work);
  const membersOf = (work: string): string[] =>
    [holder, ...(others.get(work) ?? []).map(({ member }) => member)].toSorted();
  for (const state of states) {
    state.othersDoneAt = (others.get(state.work.name) ?? []).map(({ doneAt }) => doneAt);
    runIfDue(runtime, state, membersOf(state.work.name), now);
  }
  return membersOf(role);
}

function runIfDue(runtime: ShardingRuntime, state: State, members: readonly string[], now: Temporal.Instant): void {
  const { work, beganAt } = state;
  if (state.running !== null) return;
  const sinceMs = beganAt === null ? Infinity : now.epochMilliseconds - beganAt.epochMilliseconds;
  // Half a second early is enough: otherwise looking every half second would make every period that much longer. A time ahead
  // was before the clock was set back.
  const isTime = sinceMs < 0 || sinceMs >= work.everySeconds * 1_000 - 500;
  if (!isTime && state.failingSince === null && state.members === members.join(' ')) return;
  state.members = members.join(' ');
  state.beganAt = now;
  const shards = shardsOf(runtime.holder, members);
  const running = run(runtime, state, shards.length === SHARDS ? null : shards, now);
  state.running = running.finally(() => (state.running = null));
}

async function run(runtime: ShardingRuntime, state: State, shards: Shards, now: Temporal.Instant): Promise<void> {
  const { db, clock, log, holder } = runtime;
  const { work } = state;
  const startedAt = performance.now();
  try {
    await work.run(shards);
    state.failingSince = null;
    await new WorkerStore(db.session()).setDone(work.name, holder, now, clock.now());
  } catch (error) {
    state.failingSince ??= now;
    log.error({ work: work.name, err: error }, 'a share of the work failed and will be tried again');
  }
  const elapsedMs = Math.round(performance.now() - startedAt);
  log.debug({ work: work.name, shards: shards?.length ?? SHARDS, elapsedMs }, 'a share of the work finished');
}
