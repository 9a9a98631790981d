import type { Clock } from '#kernel/time.ts';

/** New series that a service may bring at once: taking them in lasts some milliseconds longer than reading their bytes. */
const AT_ONCE = 16_000;
/**
 * New series accepted per second beyond the paid ones: half a percent of a processor. A fleet of 100,000 whose bytes
 * pay for nothing has sent all within 20 s.
 */
const PER_SECOND = 5_000;
/** A series that comes with so many bytes costs no more than other bytes do. */
const BYTES_EACH = 300;
/** Series that bytes may have paid for and that have not come: what the largest body pays for. */
const PAID_MAX = 60_000;

/**
 * Message for a series that is not accepted yet. The request that has it is answered with 503, so that it is sent
 * again.
 */
export const TOO_MANY_AT_ONCE = 'a new series: more come at once than can be taken in, send it again in some seconds';

/** Retry interval for new series. Those accepted before are known by then, and cost little when they are sent again. */
export const NEW_SERIES_RETRY_SECONDS = 3;

/**
 * Limits how fast a service may bring new series: taking in and storing one costs 1 µs, as much as reading 50 bytes and
 * more, and in a body that is made for it a series has 25. So as many are taken as the bytes that came pay for, and some
 * besides.
 */
export class NewSeriesLimiter {
  readonly #clock: Clock;
  #left = AT_ONCE;
  #paid = 0;
  #at: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#at = clock.now().epochMilliseconds;
  }

  /** Pays for new series with the size of a request's body; called for each request. */
  pay(bodyBytes: number): void {
    const now = this.#clock.now().epochMilliseconds;
    const seconds = Math.max(0, now - this.#at) / 1_000;
    this.#at = now;
    this.#left = Math.min(AT_ONCE, this.#left + seconds * PER_SECOND);
    this.#paid = Math.min(PAID_MAX, this.#paid + bodyBytes / BYTES_EACH);
  }

  /** Whether one more new series is taken now. */
  take(): boolean {
    if (this.#paid >= 1) this.#paid -= 1;
    else if (this.#left >= 1) this.#left -= 1;
    else return false;
    return true;
  }
}
