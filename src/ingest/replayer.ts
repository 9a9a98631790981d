import type { Spool } from '#ingest/spool.ts';
import { AppError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { Temporal } from '#kernel/time.ts';

interface ReplayerOptions {
  readonly add: (bytes: Buffer) => Promise<void>;
  /** Called after each run with the time since which the oldest remaining entry waits; null if there is none. */
  readonly reportOldest: (oldestAt: Temporal.Instant | null) => Promise<void>;
  readonly log: Log;
}

/** Moves the entries of the spool to the queue, one run at a time. */
export class Replayer {
  readonly #spool: Spool;
  readonly #options: ReplayerOptions;
  #running: Promise<void> | null = null;
  /** Whether the queue may have come back since the run under way looked. */
  #isWanted = false;
  #isStopped = false;
  /** Whether an empty spool was reported. False at first, because a process that died may have reported otherwise. */
  #isEmpty = false;

  constructor(spool: Spool, options: ReplayerOptions) {
    this.#spool = spool;
    this.#options = options;
  }

  /** Runs in the background; what cannot be moved now stays for the next run. */
  run(): void {
    this.#isWanted = true;
    this.#running ??= this.#runWhileWanted();
  }

  /** Leaves the rest to the next process. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #runWhileWanted(): Promise<void> {
    while (this.#isWanted && !this.#isStopped) {
      this.#isWanted = false;
      await this.#replay();
      await this.#report();
    }
    this.#running = null;
  }

  async #replay(): Promise<void> {
    const { add, log } = this.#options;
    try {
      const entries = await this.#spool.replay(async (bytes) => {
        if (this.#isStopped) throw new AppError('unavailable', 'this process is closing');
        await add(bytes);
      });
      if (entries > 0) log.info({ entries }, 'events from the disk are in the queue');
    } catch (error) {
      log.warn({ err: error }, 'events on the disk could not be moved to the queue; trying again');
    }
  }

  async #report(): Promise<void> {
    try {
      const oldestAt = await this.#spool.findOldest();
      if (oldestAt === null && this.#isEmpty) return;
      await this.#options.reportOldest(oldestAt);
      this.#isEmpty = oldestAt === null;
    } catch (error) {
      this.#isEmpty = false;
      this.#options.log.warn({ err: error }, 'failed to report the events on the disk of this process; trying again');
    }
  }
}
