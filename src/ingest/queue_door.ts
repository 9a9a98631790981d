import type { QueueDepth } from '#ingest/queue_depth.ts';
import { AppError, isUnavailable } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { DurableJobContract } from '#kernel/job.ts';
import { withTimeout } from '#kernel/with_timeout.ts';
import type { NewDurableJob, DurableQueue } from '#storage/queue/durable_queue.ts';

interface QueueDoorOptions {
  readonly queue: Pick<DurableQueue, 'addDurable' | 'ping'>;
  readonly depth: QueueDepth;
  readonly log: Log;
  /** Called each time the queue answers again. */
  readonly onOpen: () => void;
}

/** A Sentry client may give up after two seconds; until then there must be time to write to disk instead. */
const TIMEOUT_MS = 1_000;
const PING_AGAIN_MS = 500;
const RETRY_AFTER_SECONDS = 5;

/**
 * The way into the queue, shut while the queue is away or full: then `keep` throws `unavailable` at once instead of
 * heaping up calls that wait for the store to come back.
 */
export class QueueDoor {
  readonly #options: QueueDoorOptions;
  /** Why it is shut; null while it is open. */
  #reason: AppError | null = null;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: QueueDoorOptions) {
    this.#options = options;
  }

  get isShut(): boolean {
    return this.#reason !== null;
  }

  /**
   * Returns once all the jobs are stored. Throws `unavailable` when they are not, or not yet: what was too slow may
   * still arrive, so its handler must not mind doubles.
   */
  async keep(job: DurableJobContract, jobs: readonly NewDurableJob[]): Promise<void> {
    if (this.#reason !== null) throw this.#reason;
    this.#options.depth.requireRoom();
    this.#options.depth.add(jobs.reduce((sum, { bytes }) => sum + bytes.length, 0));
    try {
      await withTimeout(this.#options.queue.addDurable(job, jobs), TIMEOUT_MS, () => {
        throw slow();
      });
    } catch (error) {
      if (isUnavailable(error)) this.#shut(error);
      throw error;
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #shut(error: AppError): void {
    if (this.#reason !== null || this.#isClosed) return;
    this.#reason = error;
    this.#options.log.warn({ err: error.cause ?? error }, 'the queue is away');
    this.#pingSoon();
  }

  #pingSoon(): void {
    this.#timer = setTimeout(() => void this.#ping(), PING_AGAIN_MS);
  }

  /** A ping may hang for as long as the store is away; the next one waits for it. */
  async #ping(): Promise<void> {
    try {
      await this.#options.queue.ping();
    } catch {
      if (!this.#isClosed) this.#pingSoon();
      return;
    }
    if (this.#isClosed) return;
    this.#reason = null;
    this.#options.log.info({}, 'the queue answers again');
    this.#options.onOpen();
  }
}

function slow(): AppError {
  return new AppError('unavailable', 'the queue does not answer; send again shortly', {
    cause: new Error(`no answer within ${TIMEOUT_MS} ms`),
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
