import type { Clock } from '#kernel/time.ts';

/** New series that a service may bring at once: the first request of a large fleet. */
const AT_ONCE = 200_000;
const PER_SECOND = 2_000;
/** A series that comes with so many bytes costs no more than other bytes do. */
const BYTES_EACH = 300;

/**
 * Limits how fast a service may bring new series: taking in and storing one costs 1 µs, as much as reading 50 bytes and
 * more, and in a body that is made for it a series has 25. So as many are taken as the bytes that came pay for, and some
 * besides.
 */
export class SeriesPace {
  readonly #clock: Clock;
  #left = AT_ONCE;
  #at: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#at = clock.now().epochMilliseconds;
  }

  /** To be called for each request, with the size of its body. */
  pay(bodyBytes: number): void {
    const now = this.#clock.now().epochMilliseconds;
    const seconds = Math.max(0, now - this.#at) / 1_000;
    this.#at = now;
    this.#left = Math.min(AT_ONCE, this.#left + seconds * PER_SECOND + bodyBytes / BYTES_EACH);
  }

  /** Whether one more new series is taken now. */
  take(): boolean {
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
