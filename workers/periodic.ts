import { messageOf } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import { type Clock, Temporal } from '#kernel/time.ts';
import type { Database } from '#storage/postgres/database.ts';
import { LeaseStore } from '#storage/postgres/lease_store.ts';
import { startTicker, type Ticker } from '#workers/ticker.ts';

/** Work that one of all workers does from time to time. */
export interface Periodic {
  readonly name: string;
  readonly everySeconds: number;
  run(): Promise<void>;
}

interface PeriodicRuntime {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Names this process among all workers. */
  readonly holder: Id<'job'>;
}

/** A holder that dies is replaced after this long; one that lives says so three times as often. */
const HOLD = Temporal.Duration.from({ seconds: 9 });
const EXTEND_MS = 3_000;
const LOOK_MS = 1_000;

/** Looks every second what is due, and does it unless another worker does; no work waits for another. */
export function startPeriodic(runtime: PeriodicRuntime, works: readonly Periodic[]): Ticker {
  const underWay = new Map<string, Promise<void>>();
  const looking = startTicker(LOOK_MS, async () => {
    const idle = works.filter(({ name }) => !underWay.has(name));
    for (const work of await listDue(runtime, idle)) {
      const done = runIfDue(runtime, work).finally(() => underWay.delete(work.name));
      underWay.set(work.name, done);
    }
  });
  return {
    async stop() {
      await looking.stop();
      await Promise.all(underWay.values());
    },
  };
}

/** One question for all of them. Empty while the database is away. */
async function listDue({ db, clock, log }: PeriodicRuntime, works: readonly Periodic[]): Promise<Periodic[]> {
  const now = clock.now();
  const wanted = works.map((work) => ({ name: work.name, notSince: notSince(work, now) }));
  try {
    const due = new Set(await new LeaseStore(db.session()).listDue(wanted, now));
    return works.filter(({ name }) => due.has(name));
  } catch (error) {
    log.warn({ err: messageOf(error) }, 'it is not known what periodic work is due');
    return [];
  }
}

/** Half a second early still counts, so that looks of a whole second do not stretch every period by one. */
function notSince({ everySeconds }: Periodic, now: Temporal.Instant): Temporal.Instant {
  return now.subtract({ milliseconds: everySeconds * 1000 - 500 });
}

/**
 * Does the work if it is due and nobody else does it. What fails is due still: the next look of any worker tries
 * again, so a failed evaluation is never taken for one that found nothing.
 */
async function runIfDue(runtime: PeriodicRuntime, work: Periodic): Promise<void> {
  const { db, clock, log, holder } = runtime;
  const leases = new LeaseStore(db.session());
  const now = clock.now();
  const times = { now, notSince: notSince(work, now), heldUntil: now.add(HOLD) };
  try {
    if (!(await leases.take(work.name, holder, times))) return;
  } catch (error) {
    log.warn({ work: work.name, err: messageOf(error) }, 'the lease could not be taken');
    return;
  }
  const startedAt = performance.now();
  let doneAt: Temporal.Instant | null = null;
  try {
    await whileHolding(runtime, work.name, () => work.run());
    doneAt = now;
  } catch (error) {
    log.error({ work: work.name, err: error }, 'periodic work failed and will be tried again');
  }
  log.debug({ work: work.name, elapsedMs: Math.round(performance.now() - startedAt) }, 'periodic work done');
  await leases.release(work.name, holder, doneAt).catch((error: unknown) => {
    log.warn({ work: work.name, err: messageOf(error) }, 'the lease could not be given back');
  });
}

/** Work that takes longer than a lease lasts keeps it. One lost all the same does no harm: all work runs safely twice. */
async function whileHolding(runtime: PeriodicRuntime, name: string, run: () => Promise<void>): Promise<void> {
  const { db, clock, log, holder } = runtime;
  const extend = (): void => {
    new LeaseStore(db.session()).extend(name, holder, clock.now().add(HOLD)).catch((error: unknown) => {
      log.warn({ work: name, err: messageOf(error) }, 'the lease could not be kept');
    });
  };
  const extending = setInterval(extend, EXTEND_MS);
  try {
    await run();
  } finally {
    clearInterval(extending);
  }
}
