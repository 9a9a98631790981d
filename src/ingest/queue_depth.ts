import { AppError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';

interface QueueDepthOptions {
  /** Limit on the bytes in the queue; Infinity for no limit. */
  readonly bytesMax: number;
  /** The size of all ingestion jobs that wait or run, of all processes; rather too large than too small. */
  readonly measure: (bytesOfInterest: number) => Promise<number>;
  readonly log: Log;
  /** Called each time there is space again. */
  readonly onCapacity: () => void;
}

const MEASURE_MS = 1_000;
/** Share of the limit below which a full queue must fall before it accepts data again, which prevents flapping. */
const ROOM_SHARE = 0.95;
const RETRY_AFTER_SECONDS = 10;

/**
 * Limits how much waits in the queue, for instance during a long outage of ClickHouse, so that it never fills the disk. Jobs
 * of this process count at once; what others add and workers remove counts within a second.
 */
export class QueueDepth {
  readonly #options: QueueDepthOptions;
  readonly #timer: NodeJS.Timeout;
  #bytes = 0;
  #isUsed = false;
  #isFull = false;
  #measuring: Promise<void> | null = null;

  constructor(options: QueueDepthOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#measure(), MEASURE_MS);
    this.#timer.unref();
  }

  /** Throws `unavailable` while the queue is full. */
  requireCapacity(): void {
    if (!this.#isFull) return;
    throw new AppError('unavailable', 'too much data waits to be stored; send again later', {
      limit: 'ingestQueueMegabytes',
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }

  /** Counts what is being added. */
  add(bytes: number): void {
    this.#isUsed = true;
    this.#bytes += bytes;
    this.#decide();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#measuring;
  }

  /** Asks nothing while nothing is sent. If the measurement fails, the last size stays. */
  async #measure(): Promise<void> {
    const { bytesMax, measure } = this.#options;
    if (bytesMax === Infinity || this.#measuring !== null || !(this.#isUsed || this.#isFull)) return;
    this.#isUsed = false;
    const before = this.#bytes;
    this.#measuring = measure(bytesMax * ROOM_SHARE)
      .then((bytes) => {
        this.#bytes = bytes + this.#bytes - before;
        this.#decide();
      })
      .catch(() => {})
      .finally(() => (this.#measuring = null));
    await this.#measuring;
  }

  #decide(): void {
    const { bytesMax, log, onCapacity } = this.#options;
    const wasFull = this.#isFull;
    this.#isFull = this.#bytes >= (wasFull ? bytesMax * ROOM_SHARE : bytesMax);
    if (wasFull === this.#isFull) return;
    if (this.#isFull) {
      log.error({ bytes: this.#bytes, bytesMax }, 'the queue is full: senders are asked to retry');
      return;
    }
    log.info({ bytes: this.#bytes }, 'the queue has space again');
    onCapacity();
  }
}
