import type { Spool } from '#ingest/spool.ts';
import { AppError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { Temporal } from '#kernel/time.ts';

interface ReplayerOptions {
  readonly add: (bytes: Buffer) => Promise<void>;
  /** Hears after each run since when the oldest entry that is left has been waiting; null when none is. */
  readonly reportOldest: (oldestAt: Temporal.Instant | null) => Promise<void>;
  readonly log: Log;
}

/** Brings what waits in the spool to the queue, one run at a time. */
export class Replayer {
  readonly #spool: Spool;
  readonly #options: ReplayerOptions;
  #running: Promise<void> | null = null;
  #isStopped = false;
  /** As everybody knows; unknown at first, for a process that died may have told otherwise. */
  #isEmpty = false;

  constructor(spool: Spool, options: ReplayerOptions) {
    this.#spool = spool;
    this.#options = options;
  }

  /** In the background; what cannot be brought now stays for the next run. */
  run(): void {
    this.#running ??= this.#runOnce();
  }

  /** Leaves the rest to the next process. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #runOnce(): Promise<void> {
    await this.#replay();
    await this.#tell();
    this.#running = null;
  }

  async #replay(): Promise<void> {
    const { add, log } = this.#options;
    try {
      const entries = await this.#spool.replay(async (bytes) => {
        if (this.#isStopped) throw new AppError('unavailable', 'this process is closing');
        await add(bytes);
      });
      if (entries > 0) log.info({ entries }, 'what waited on disk is in the queue');
    } catch (error) {
      log.warn({ err: error }, 'what waits on disk could not be brought to the queue yet');
    }
  }

  async #tell(): Promise<void> {
    try {
      const oldestAt = await this.#spool.findOldest();
      if (oldestAt === null && this.#isEmpty) return;
      await this.#options.reportOldest(oldestAt);
      this.#isEmpty = oldestAt === null;
    } catch (error) {
      this.#isEmpty = false;
      this.#options.log.warn({ err: error }, 'others do not know yet what waits on the disk of this process');
    }
  }
}
