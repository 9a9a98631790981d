import { expect, test } from 'vitest';

import type { SentMetric } from '#ingest/protocols/sentry/trace_metrics.ts';
import { SentryMetrics } from '#ingest/sentry_metrics.ts';
import { finish } from '#kernel/cooperative_task.ts';
import { newId } from '#kernel/ids.ts';
import { systemClock } from '#kernel/time.ts';
import { freshLimits, NOW, NOW_MS, pointsOf } from '#test/ingest/metric_bytes.ts';

const serviceId = newId('service');
const ordersOf = (sign: string): SentMetric => ({
  name: 'orders',
  type: 'counter',
  value: 2,
  unit: '',
  labels: [],
  at: NOW_MS,
  sign,
});

/** Prepares requests that are in flight together. */
function receiver() {
  const metrics = new SentryMetrics({ clock: systemClock, findOfKey: async () => [] });
  return (...signs: readonly string[]) => {
    const prepared = metrics.prepare(serviceId, signs.map(ordersOf));
    const times = prepared === null ? [] : pointsOf(finish(prepared.decode(NOW, freshLimits()))).map(({ at }) => at);
    return { ...prepared, times };
  };
}

test('requests of one millisecond that are in flight together get times of their own', () => {
  const prepare = receiver();
  const times = ['a', 'b', 'c'].flatMap((sign) => prepare(sign).times);
  expect(times).toEqual([NOW_MS, NOW_MS + 1, NOW_MS + 2]);
});

test('a request that is sent again before it is stored gets the same time, and afterwards is left out', () => {
  const prepare = receiver();
  expect([prepare('a', 'b').times, prepare('a', 'b').times, prepare('c').times]).toEqual([
    [NOW_MS],
    [NOW_MS],
    [NOW_MS + 1],
  ]);
  const again = prepare('a', 'b');
  expect(again.times).toEqual([NOW_MS]);
  again.remember?.();
  expect([prepare('a', 'b').times, prepare('d').times]).toEqual([[], [NOW_MS + 2]]);
});
