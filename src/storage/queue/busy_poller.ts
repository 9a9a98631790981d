import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';

/** Functions of what is watched, all about one kind of job. */
interface Watched {
  /** Promises to look for so long, and once more after it; false when another process does. */
  promise(forMs: number): Promise<boolean>;
  /** Takes the promise back. */
  release(): Promise<void>;
  hasReady(): Promise<boolean>;
  /** Begins what is ready. */
  begin(log: Log): void;
  /** Whether jobs are running. */
  isBusy(): boolean;
}

/** Time for which the watch is promised ahead, and for which it goes on after the last job. */
const WATCH_MS = 1_000;
const EXTEND_BELOW_MS = 600;
/** A process that begins nothing for so long although jobs are ready promises no more: others are woken. */
const STUCK_MS = 500;
/** A look takes a tenth of what the queue's own wake-up takes. */
const LOOK_MS = 40;
/** While jobs are running, the end of each is a reason to look, too. */
const BUSY_LOOK_MS = 100;
const AWAY_MS = 250;
/** PostgreSQL rounds times to milliseconds. */
const ROUNDING_MS = 2;

/**
 * Looks for further jobs by itself for a while after each job. Meanwhile nobody who adds jobs has to wake a worker, and
 * all jobs of a kind come to this process: more senders or workers cause neither more wake-ups nor smaller batches. When
 * it has no room, it wakes others.
 */
export class BusyPoller {
  readonly #watched: Watched;
  #workedAt = -Infinity;
  /** Time since which jobs are ready and none was begun; null when there are none. */
  #idleSince: number | null = null;
  #watching: Promise<void> | null = null;
  #isStopped = false;
  #endPause = (): void => {};

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  /** Notes that jobs were begun. */
  noteWork(log: Log): void {
    this.#workedAt = performance.now();
    this.#idleSince = null;
    if (!this.#isStopped) this.#watching ??= this.#watch(log).finally(() => (this.#watching = null));
  }

  /** Resolves once it looks no longer, and nobody relies on it. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#endPause();
    await this.#watching;
  }

  /** Never throws. */
  async #watch(log: Log): Promise<void> {
    if (!(await this.#promise())) return;
    let endsAt = performance.now() + WATCH_MS;
    let isAway = false;
    while (!this.#isStopped) {
      await this.#pause(isAway ? AWAY_MS : this.#watched.isBusy() ? BUSY_LOOK_MS : LOOK_MS);
      if (this.#isWorthExtending(endsAt) && (await this.#promise())) endsAt = performance.now() + WATCH_MS;
      const lookedAt = performance.now();
      try {
        if (await this.#watched.hasReady()) {
          this.#idleSince ??= lookedAt;
          this.#watched.begin(log);
        } else this.#idleSince = null;
        isAway = false;
      } catch (error) {
        if (!isAway) log.warn({ err: messageOf(error) }, 'failed to look for jobs; trying again');
        isAway = true;
      }
      // What was stored while somebody could rely on this process has been looked for.
      if (!isAway && lookedAt > endsAt + ROUNDING_MS) return;
    }
    await this.#watched.release().catch(() => {});
  }

  #isWorthExtending(endsAt: number): boolean {
    const now = performance.now();
    const isStuck = this.#idleSince !== null && now - this.#idleSince > STUCK_MS;
    return !isStuck && now - this.#workedAt < WATCH_MS && endsAt - now < EXTEND_BELOW_MS;
  }

  /** True also when it is unknown whether it was made: then it may have been. */
  async #promise(): Promise<boolean> {
    return await this.#watched.promise(WATCH_MS).catch(() => true);
  }

  async #pause(forMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, forMs).unref();
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
      if (this.#isStopped) this.#endPause();
    });
  }
}
