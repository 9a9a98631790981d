import type { QueueDepth } from '#ingest/queue_depth.ts';
import { AppError, isUnavailable } from '#kernel/errors.ts';
import type { DurableJobContract } from '#kernel/job.ts';
import type { Log } from '#kernel/log.ts';
import { withTimeout } from '#kernel/promises.ts';
import type { DurableQueue, NewDurableJob } from '#storage/queue/durable_queue.ts';
import { limitBy, type Clock } from '#kernel/time.ts';

interface QueueCircuitBreakerOptions {
  readonly queue: Pick<DurableQueue, 'addDurable' | 'pingStore'>;
  readonly depth: QueueDepth;
  readonly clock: Clock;
  readonly log: Log;
  /** Called each time the queue answers again. */
  readonly onRecovery: () => void;
}

/** A Sentry client may give up after two seconds; until then there must be time to write to disk instead. */
const TIMEOUT_MS = 1_000;
const PING_INTERVAL_MS = 500;
const RETRY_AFTER_SECONDS = 5;

/**
 * A circuit breaker in front of the queue. While the queue does not answer or is full, `addDurable` throws `unavailable` at
 * once, so that no calls pile up until the store is back. Pings find out when that is.
 */
export class QueueCircuitBreaker {
  readonly #options: QueueCircuitBreakerOptions;
  /** Reason for refusing calls; null while they are let through. */
  #failure: AppError | null = null;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: QueueCircuitBreakerOptions) {
    this.#options = options;
  }

  /**
   * Returns once all the jobs are stored. Throws `unavailable` when they are not, or not yet: a slow one may still
   * arrive, so its handler must be idempotent.
   */
  async addDurable(job: DurableJobContract, jobs: readonly NewDurableJob[]): Promise<void> {
    if (this.#failure !== null) throw this.#failure;
    this.#options.depth.requireCapacity();
    this.#options.depth.add(jobs.reduce((sum, { bytes }) => sum + bytes.length, 0));
    try {
      const timeoutMs = limitBy(this.#options.clock, TIMEOUT_MS);
      await withTimeout(this.#options.queue.addDurable(job, jobs), timeoutMs, () => {
        throw timeoutError();
      });
    } catch (error) {
      if (isUnavailable(error)) this.#trip(error);
      throw error;
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #trip(error: AppError): void {
    if (this.#failure !== null || this.#isClosed) return;
    this.#failure = error;
    this.#options.log.warn({ err: error.cause ?? error }, 'the queue is unavailable');
    this.#schedulePing();
  }

  #schedulePing(): void {
    this.#timer = setTimeout(() => void this.#ping(), PING_INTERVAL_MS);
  }

  /** A ping may hang while the store is down; the next one is sent only after it has ended. */
  async #ping(): Promise<void> {
    try {
      await this.#options.queue.pingStore();
    } catch {
      if (!this.#isClosed) this.#schedulePing();
      return;
    }
    if (this.#isClosed) return;
    this.#failure = null;
    this.#options.log.info({}, 'the queue is available again');
    this.#options.onRecovery();
  }
}

function timeoutError(): AppError {
  return new AppError('unavailable', 'the queue does not answer; send again shortly', {
    cause: new Error(`no answer within ${TIMEOUT_MS} ms`),
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
