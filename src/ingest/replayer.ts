import type { Spool } from '#ingest/spool.ts';
import { AppError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';

/** Brings what waits in the spool to the queue, one run at a time. */
export class Replayer {
  readonly #spool: Spool;
  readonly #add: (bytes: Buffer) => Promise<void>;
  readonly #log: Log;
  #running: Promise<void> | null = null;
  #isStopped = false;

  constructor(spool: Spool, add: (bytes: Buffer) => Promise<void>, log: Log) {
    this.#spool = spool;
    this.#add = add;
    this.#log = log;
  }

  /** In the background; what cannot be brought now stays for the next run. */
  run(): void {
    this.#running ??= this.#replay();
  }

  /** Leaves the rest to the next process. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #replay(): Promise<void> {
    try {
      const entries = await this.#spool.replay(async (bytes) => {
        if (this.#isStopped) throw new AppError('unavailable', 'this process is closing');
        await this.#add(bytes);
      });
      if (entries > 0) this.#log.info({ entries }, 'what waited on disk is in the queue');
    } catch (error) {
      this.#log.warn({ err: error }, 'what waits on disk could not be brought to the queue yet');
    }
    this.#running = null;
  }
}
