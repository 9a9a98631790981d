import { expect, test } from 'vitest';

import { SECOND, sender } from '#test/ingest/counter_sender.ts';
import { NOW_MS } from '#test/ingest/metric_bytes.ts';
import fc, { slowRuns } from '#test/kit/properties.ts';

test('two processes that export one counter in turn are counted by their own starts, and told', () => {
  const { sum, grown, overlapping } = sender();
  for (let i = 0; i < 12; i += 1) {
    const at = NOW_MS - 120 * SECOND + i * 10 * SECOND;
    if (i % 2 === 0) sum(NOW_MS - 3600 * SECOND, at, 1000 + i);
    else sum(NOW_MS - 600 * SECOND, at, 50 + i);
  }
  expect(grown('jobs')).toBe(20);
  expect(overlapping()).toBeGreaterThan(0);
});

test('eight workers that were forked within 50 ms are counted by their own starts', () => {
  const { sum, grown } = sender();
  const startOf = (worker: number) => NOW_MS - 3600 * SECOND + worker * 6;
  const totals = [1000, 900, 1700, 30, 450, 1200, 7, 2000];
  const turn = (round: number): void => {
    for (const [worker, total] of totals.entries()) {
      sum(startOf(worker), NOW_MS - 100 * SECOND + round * 10 * SECOND + worker * 100, total + round);
    }
  };
  for (const round of [0, 1]) turn(round);
  const before = grown('jobs');
  for (const round of [2, 3, 4]) turn(round);
  expect(grown('jobs') - before).toBe(24);
});

test.each([0, 1, 2])(
  'processes that export within %d ms are counted each, also where exports are sent again',
  (apart) => {
    const { sum, histogram, grown, overlapping } = sender();
    const totals = [1000, 50, 7];
    const turn = (round: number): void => {
      for (const [worker, total] of totals.entries()) {
        const startAt = NOW_MS - 3600 * SECOND - worker * 60 * SECOND;
        const at = NOW_MS - 100 * SECOND + round * 10 * SECOND + worker * apart;
        const count = String(total + round * 10);
        sum(startAt, at, total + round * 10, true);
        histogram(startAt, at, { scale: 3, count, sum: 1, positive: { offset: 0, bucketCounts: [count] } });
        histogram(startAt, at, { scale: 3, count, sum: 1, positive: { offset: 0, bucketCounts: [count] } });
      }
    };
    for (const round of [0, 1]) turn(round);
    const before = ['jobs', 'pay_count', 'pay_bucket'].map((name) => grown(name));
    for (const round of [2, 3, 4]) turn(round);
    const gained = ['jobs', 'pay_count', 'pay_bucket'].map((name, place) => grown(name) - (before[place] ?? 0));
    expect(gained).toEqual([90, 90, 90]);
    expect(overlapping()).toBeGreaterThan(0);
  },
);

test('a process whose clock is set back by some intervals has not begun anew', () => {
  const { sum, histogram, grown } = sender();
  const startAt = NOW_MS - 3600 * SECOND;
  for (const [place, ago] of [100, 90, 115, 105, 95, 85, 75].entries()) {
    const count = String(5 + place);
    sum(startAt, NOW_MS - ago * SECOND, 5 + place);
    histogram(startAt, NOW_MS - ago * SECOND, {
      scale: 3,
      count,
      sum: 1,
      positive: { offset: 4, bucketCounts: [count] },
    });
  }
  expect([grown('jobs'), grown('pay_count'), grown('pay_bucket')]).toEqual([6, 6, 6]);
});

test('two processes of before this one was started go on, and what they had counted is not counted again', () => {
  const { sum, grown, startAnew } = sender();
  const round = (number: number): void => {
    sum(NOW_MS - 3600 * SECOND, NOW_MS - 100 * SECOND + number * 10 * SECOND, 50_000 + number);
    sum(NOW_MS - 600 * SECOND, NOW_MS - 95 * SECOND + number * 10 * SECOND, 40 + number);
  };
  for (const number of [0, 1, 2]) round(number);
  const before = grown('jobs');
  startAnew(['jobs']);
  for (const number of [3, 4, 5]) round(number);
  // Two less than all: of the first sample of each it is not known what it grew by.
  expect(grown('jobs') - before).toBe(4);
});

// As the Collector's receiver of Prometheus metrics does by default, opentelemetry-collector-contrib #43656.
test.each([
  ['once it is started anew', (startAnew: () => void) => startAnew()],
  ['while it runs', () => {}],
])('a process keeps the first sample where the start is its time, %s', (_when, startAnew) => {
  const { sum, histogram, grown, samples, ...receiver } = sender();
  const send = (startAt: number, at: number, value: number): void => {
    sum(startAt, at, value);
    histogram(startAt, at, {
      scale: 3,
      count: String(value),
      sum: 1,
      positive: { offset: 4, bucketCounts: [String(value)] },
    });
  };
  const [first, second] = [NOW_MS - 200 * SECOND, NOW_MS - 100 * SECOND];
  send(first, first, 1000);
  send(first, first + 30 * SECOND, 1010);
  startAnew(receiver.startAnew);
  send(first, first + 60 * SECOND, 1020);
  send(second, second, 1030);
  startAnew(receiver.startAnew);
  send(second, second + 30 * SECOND, 1040);
  expect(['jobs', 'pay_count', 'pay_bucket'].map((name) => grown(name))).toEqual([40, 40, 40]);
  expect(samples('jobs')).toEqual([1000, 1010, 1020, 1030, 1040]);
});

test('a start that a sender computes from its uptime anew is the start of one process', () => {
  const { sum, grown, overlapping } = sender();
  const startAt = NOW_MS - 100 * SECOND;
  for (const [place, off] of [0, 1000, -1000, 500, 0, 1000, -700].entries()) {
    sum(startAt + off, NOW_MS - 90 * SECOND + place * 10 * SECOND, 10 + place);
  }
  expect(grown('jobs')).toBe(16);
  expect(overlapping()).toBe(0);
});

test('a counter that begins anew with each export keeps all its samples', () => {
  const { sum, grown, samples } = sender();
  for (const [place, value] of [5, 6, 4].entries()) {
    const at = NOW_MS - 90 * SECOND + place * 10 * SECOND;
    sum(at - 10 * SECOND, at, value);
  }
  expect(grown('jobs')).toBe(15);
  expect(samples('jobs')).toEqual([5, 6, 4]);
});

test.each([
  ['at the time of each sample', (at: number) => at],
  ['in the future', () => NOW_MS + 3600 * SECOND],
  ['of 1970', () => 0],
])('a start %s is none', (_when, startOf) => {
  const { sum, grown } = sender();
  for (const place of [0, 1, 2, 3]) {
    const at = NOW_MS - 90 * SECOND + place * 10 * SECOND;
    sum(startOf(at), at, 100 + place);
  }
  expect(grown('jobs')).toBe(3);
});

test('a rolling deploy counts what both processes counted, also where exports are sent again', () => {
  const { sum, grown } = sender();
  sum(NOW_MS - 3600 * SECOND, NOW_MS - 100 * SECOND, 50_000_000, true);
  sum(NOW_MS - 95 * SECOND, NOW_MS - 90 * SECOND, 5, true);
  sum(NOW_MS - 3600 * SECOND, NOW_MS - 80 * SECOND, 50_000_010, true);
  sum(NOW_MS - 95 * SECOND, NOW_MS - 70 * SECOND, 15, true);
  sum(NOW_MS - 3600 * SECOND, NOW_MS - 60 * SECOND, 50_000_020, true);
  expect(grown('jobs')).toBe(35);
});

test('a restart counts from 0, and nobody is told of it', () => {
  const { sum, grown, overlapping } = sender();
  sum(NOW_MS - 3600 * SECOND, NOW_MS - 100 * SECOND, 100);
  sum(NOW_MS - 3600 * SECOND, NOW_MS - 90 * SECOND, 110);
  sum(NOW_MS - 85 * SECOND, NOW_MS - 80 * SECOND, 105);
  expect(grown('jobs')).toBe(115);
  expect(overlapping()).toBe(0);
});

test('of a histogram that lowers its scale only what is new counts', () => {
  const { histogram, grown } = sender();
  const startAt = NOW_MS - 3600 * SECOND;
  histogram(startAt, NOW_MS - 20 * SECOND, {
    scale: 3,
    count: '1000',
    sum: 1450,
    positive: { offset: 4, bucketCounts: ['1000'] },
  });
  const wide = Array.from({ length: 41 }, () => '0');
  wide[2] = '1000';
  wide[40] = '10';
  histogram(startAt, NOW_MS, { scale: 2, count: '1010', sum: 12450, positive: { offset: 0, bucketCounts: wide } });
  expect(grown('pay_bucket')).toBe(10);
  expect(grown('pay_count')).toBe(10);
});

/** Counts values as a client does: by scale and threshold. */
function bucketsOf(values: readonly number[], scale: number, zeroThreshold: number): object {
  const counts = { positive: new Map<number, number>(), negative: new Map<number, number>() };
  let zeros = 0;
  for (const value of values) {
    if (Math.abs(value) <= zeroThreshold) zeros += 1;
    else {
      const index = Math.ceil(Math.log2(Math.abs(value)) * 2 ** scale) - 1;
      const side = counts[value > 0 ? 'positive' : 'negative'];
      side.set(index, (side.get(index) ?? 0) + 1);
    }
  }
  const sideOf = (side: ReadonlyMap<number, number>): object => {
    const offset = Math.min(...side.keys());
    const length = side.size === 0 ? 0 : Math.max(...side.keys()) - offset + 1;
    const bucketCounts = Array.from({ length }, (_, i) => String(side.get(offset + i) ?? 0));
    return { offset: length === 0 ? 0 : offset, bucketCounts };
  };
  const [positive, negative] = [sideOf(counts.positive), sideOf(counts.negative)];
  return { scale, count: String(values.length), zeroCount: String(zeros), zeroThreshold, positive, negative };
}

// Specification of native histograms: a wider zero bucket and a lower resolution merge buckets, and are no reset.
test('whatever a sender and the store merge in a histogram, exactly what was observed counts', () => {
  const step = fc.record({
    falls: fc.constantFrom(0, 0, 0, 1, 2),
    threshold: fc.integer({ min: -60, max: -4 }),
    widens: fc.constantFrom(false, false, true),
    sizes: fc.array(fc.integer({ min: -999, max: 999 }), { minLength: 40, maxLength: 80, size: 'max' }),
  });
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 6 }), fc.array(step, { minLength: 2, maxLength: 8 }), (first, steps) => {
      const { histogram, grown } = sender();
      const values: number[] = [];
      let [scale, zeroThreshold] = [first, 0];
      for (const [i, { falls, threshold, widens, sizes }] of steps.entries()) {
        scale -= falls;
        if (widens) zeroThreshold = Math.max(zeroThreshold, 2 ** (threshold / 8));
        values.push(...sizes.map((size, place) => (place % 3 === 0 ? -1 : 1) * 2 ** (size / 10 + 0.01)));
        histogram(NOW_MS - 400 * SECOND, NOW_MS + (i - 10) * 30 * SECOND, bucketsOf(values, scale, zeroThreshold));
      }
      expect([grown('pay_bucket'), grown('pay_count')]).toEqual([values.length, values.length]);
    }),
    { numRuns: slowRuns(600), endOnFailure: true },
  );
});

test('whatever bounds a sender chooses anew, exactly what was observed counts, where it was observed', () => {
  const bounds = fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 8 });
  const step = fc.record({ bounds, sizes: fc.array(fc.integer({ min: 0, max: 14 }), { minLength: 1, maxLength: 30 }) });
  fc.assert(
    fc.property(fc.array(step, { minLength: 2, maxLength: 8 }), (steps) => {
      const { bounded, grown } = sender();
      const values: number[] = [];
      for (const [i, { bounds: chosen, sizes }] of steps.entries()) {
        const rising = chosen.toSorted((a, b) => a - b);
        values.push(...sizes);
        const counts = [...rising, Infinity].map(
          (to, place) => values.filter((value) => value <= to && value > (rising[place - 1] ?? -1)).length,
        );
        bounded(NOW_MS - 400 * SECOND, NOW_MS + (i - 10) * 30 * SECOND, [rising, counts], [[20], [1, 0], 'other']);
      }
      expect(grown('pay_bucket')).toBeCloseTo(values.length, 6);
      expect(grown('pay_count')).toBe(values.length);
    }),
    { numRuns: 60, endOnFailure: true },
  );
});

test('of histograms with different bounds in one request each keeps its own', () => {
  const { bounded, grown } = sender();
  for (const [place, between] of [5, 9].entries()) {
    const at = NOW_MS - (20 - place * 10) * SECOND;
    bounded(
      NOW_MS - 3600 * SECOND,
      at,
      [
        [1, 2],
        [10, between, 0],
      ],
      [[20], [1, 0], 'other'],
    );
  }
  expect(grown('pay_bucket {"vmrange":"1...2"}')).toBe(4);
  expect(grown('pay_bucket')).toBe(4);
});

test('two processes that export one histogram with bounds of their choice are counted by their own starts', () => {
  const { bounded, grown } = sender();
  for (let i = 0; i < 8; i += 1) {
    const counts = i % 2 === 0 ? [1000 + i, 3, 0] : [50 + i, 0, 0];
    const startAt = NOW_MS - (i % 2 === 0 ? 3600 : 600) * SECOND;
    bounded(startAt, NOW_MS - 100 * SECOND + i * 10 * SECOND, [[1, 2], counts]);
  }
  expect(grown('pay_count')).toBe(12);
  expect(grown('pay_bucket')).toBe(12);
});

test('four workers that were forked within seconds are counted by their own starts from the first sample on', () => {
  const { sum, grown } = sender();
  const totals = [0, 0, 0, 0];
  for (const round of [0, 1, 2, 3]) {
    for (const [worker, total] of totals.entries()) {
      totals[worker] = total + 10 * (worker + 1) + round;
      const startAt = NOW_MS - 140 * SECOND + worker * 700;
      sum(startAt, startAt + (round + 1) * 30 * SECOND + worker * 40, totals[worker]);
    }
  }
  expect(grown('jobs')).toBe(totals.reduce((all, total) => all + total, 0));
});

test('two processes that export one exponential histogram in turn are counted by their own starts', () => {
  const { histogram, grown } = sender();
  for (let i = 0; i < 8; i += 1) {
    const at = NOW_MS - 100 * SECOND + i * 10 * SECOND;
    const count = String(i % 2 === 0 ? 1000 + i : 50 + i);
    const startAt = NOW_MS - (i % 2 === 0 ? 3600 : 600) * SECOND;
    histogram(startAt, at, { scale: 3, count, sum: 1, positive: { offset: 4, bucketCounts: [count] } });
  }
  expect(grown('pay_count')).toBe(12);
  expect(grown('pay_bucket')).toBe(12);
});
