import { AppError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';

interface QueueDepthOptions {
  /** Infinity for no bound. */
  readonly bytesMax: number;
  /** What all jobs of ingestion that wait or run take now, whoever added them; no less than they do. */
  readonly measure: (bytesOfInterest: number) => Promise<number>;
  readonly log: Log;
  /** Called each time there is room again. */
  readonly onRoom: () => void;
}

const MEASURE_MS = 1_000;
/** Full until this share of the bound is left, so that it does not open and close all the time. */
const ROOM_SHARE = 0.95;
const RETRY_AFTER_SECONDS = 10;

/**
 * Bounds what waits in the queue, as during a long outage of ClickHouse, so that it never fills the disk. What this
 * process adds counts at once, what others add and workers take within a second.
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
  requireRoom(): void {
    if (!this.#isFull) return;
    throw new AppError('unavailable', 'more waits to be stored than may; send again later', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }

  /** What is being added. */
  add(bytes: number): void {
    this.#isUsed = true;
    this.#bytes += bytes;
    this.#decide();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#measuring;
  }

  /** Nothing is asked while nothing is sent. One that cannot be asked is taken to be as it was. */
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
    const { bytesMax, log, onRoom } = this.#options;
    const wasFull = this.#isFull;
    this.#isFull = this.#bytes >= (wasFull ? bytesMax * ROOM_SHARE : bytesMax);
    if (wasFull === this.#isFull) return;
    if (this.#isFull) {
      log.error({ bytes: this.#bytes, bytesMax }, 'the queue is full: senders are told to come back');
      return;
    }
    log.info({ bytes: this.#bytes }, 'the queue has room again');
    onRoom();
  }
}
