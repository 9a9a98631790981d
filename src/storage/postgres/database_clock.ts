import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { type Clock, Temporal } from '#kernel/time.ts';
import type { Sql } from '#storage/postgres/database.ts';

/** Clocks of the process itself. */
interface OwnTime {
  /** Goes on evenly, whatever the machine's clock is set to. */
  elapsedMs(): number;
  /** The machine's clock, in epoch milliseconds; only the first guess. */
  wallMs(): number;
}

const OWN_TIME: OwnTime = { elapsedMs: () => performance.now(), wallMs: () => Date.now() };

/** Corrections below this are not worth a word. */
const TOLD_FROM_MS = 1_000;

const COMPARE_MS = 10_000;
const COMPARE_FIRST_MS = 1_000;

/**
 * The clock of the database as this process keeps it. All processes go by this one clock, whatever the machines that
 * they run on believe: timers, leases and counts that one sets are read by the others.
 */
export interface DatabaseClock extends Clock {
  /** Asks the database once; false without an answer: the clock goes on as it went. */
  compare(): Promise<boolean>;
}

/** Compares at once, and then every few seconds until stopped. A database that is away is waited for in the background. */
export async function startDatabaseClock(sql: Sql, log: Log): Promise<{ readonly clock: Clock; stop(): void }> {
  const ask = async (): Promise<number> => {
    const row = await sql.row<{ ms: number }>('select extract(epoch from clock_timestamp())::float8 * 1000 as ms');
    if (row === null) throw new Error('no row came back');
    return row.ms;
  };
  const clock = databaseClock(ask, log);
  let isKnown = await clock.compare();
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  const next = (): void => {
    if (isStopped) return;
    const again = async (): Promise<void> => {
      isKnown = (await clock.compare()) || isKnown;
      next();
    };
    timer = setTimeout(() => void again(), isKnown ? COMPARE_MS : COMPARE_FIRST_MS).unref();
  };
  next();
  return {
    clock,
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

/** `ask` resolves to the database's epoch milliseconds, with fractions. */
export function databaseClock(ask: () => Promise<number>, log: Log, ownTime: OwnTime = OWN_TIME): DatabaseClock {
  let zeroMs = ownTime.wallMs() - ownTime.elapsedMs();
  let last = Temporal.Instant.fromEpochMilliseconds(0);
  return {
    now() {
      const nowMs = Math.floor(zeroMs + ownTime.elapsedMs());
      // Asked several times for each request.
      if (last.epochMilliseconds !== nowMs) last = Temporal.Instant.fromEpochMilliseconds(nowMs);
      return last;
    },
    async compare() {
      const askedMs = ownTime.elapsedMs();
      const databaseMs = await ask().catch((error: unknown) => {
        log.debug({ err: messageOf(error) }, 'failed to ask the database for the time');
        return null;
      });
      if (databaseMs === null) return false;
      // It was that late at some moment between question and answer: a slow answer proves nothing wrong.
      const [earliest, latest] = [databaseMs - ownTime.elapsedMs(), databaseMs - askedMs];
      const corrected = Math.min(Math.max(zeroMs, earliest), latest);
      const byMs = corrected - zeroMs;
      zeroMs = corrected;
      if (Math.abs(byMs) >= TOLD_FROM_MS) {
        const bySeconds = Math.round(byMs / 1000);
        log.warn(
          { bySeconds },
          'the clock of this process differs from that of the database; the time of the database is used',
        );
      }
      return true;
    },
  };
}
