import { expect, test } from 'vitest';

import { NewSeriesLimiter } from '#ingest/series/new_series_limiter.ts';
import { fromEpochMilliseconds } from '#kernel/time.ts';

const STARTED_MS = 1_790_000_000_000;
/** Bytes that a processor reads a second at 20 ns a byte. */
const BYTES_A_SECOND = 50_000_000;
const BODY_BYTES = 1_000_000;
/** Least bytes of a series in a body that is made for it. */
const BYTES_OF_SERIES_MIN = 25;
/** Cost of a new series beyond its bytes. */
const SERIES_MS = 1 / 1_000;

function pacing() {
  let nowMs = STARTED_MS;
  const pace = new NewSeriesLimiter({ now: () => fromEpochMilliseconds(Math.round(nowMs)) });
  return { pace, pass: (ms: number) => (nowMs += ms) };
}

/** Sends a body with so many new series; how many are taken. */
function send(pace: NewSeriesLimiter, bytes: number, series: number): number {
  pace.pay(bytes);
  let taken = 0;
  while (taken < series && pace.take()) taken += 1;
  return taken;
}

test('a stream of nothing but new series costs a hundredth more than what its bytes pay for, and some milliseconds once', () => {
  const { pace, pass } = pacing();
  const perBody = BODY_BYTES / BYTES_OF_SERIES_MIN;
  let unpaid = 0;
  for (let second = 1; second <= 10; second += 1) {
    for (let body = 0; body < BYTES_A_SECOND / BODY_BYTES; body += 1) {
      unpaid += send(pace, BODY_BYTES, perBody) - BODY_BYTES / 300;
      pass((1_000 * BODY_BYTES) / BYTES_A_SECOND);
    }
    expect(unpaid * SERIES_MS).toBeLessThan(20 + second * 10);
  }
});

test('the first scrape of a fleet of 100,000 series passes within half a minute, in requests of Prometheus or in one', () => {
  for (const requests of [50, 1]) {
    const { pace, pass } = pacing();
    const pending = Array.from({ length: requests }, () => 100_000 / requests);
    let seconds = 0;
    for (; pending.length > 0; seconds += 3) {
      // The first is tried until it is taken, then the next, as in a queue.
      for (let left = pending[0]; left !== undefined; left = pending[0]) {
        const taken = send(pace, (100_000 / requests) * 60, left);
        if (taken < left) {
          pending[0] = left - taken;
          break;
        }
        pending.shift();
      }
      pass(3_000);
    }
    expect(seconds, `${requests} requests`).toBeLessThan(30);
  }
});

test('what the bytes of a request pay for is not lost when another pays before its series come', () => {
  const { pace } = pacing();
  pace.pay(3_000_000);
  pace.pay(3_000_000);
  expect(send(pace, 0, 100_000)).toBe(36_000);
});
