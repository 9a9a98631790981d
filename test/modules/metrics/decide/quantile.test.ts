import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { toRanges } from '#modules/metrics/decide/exponential_buckets.ts';
import { addUpByLayout, type SenderBucket } from '#modules/metrics/decide/bucket_layouts.ts';
import { heatmapOf, quantileOf as measureQuantile, valueBoundsOf } from '#modules/metrics/decide/quantile.ts';

const quantileOf = (...asked: Parameters<typeof measureQuantile>) => measureQuantile(...asked)?.value ?? null;
const classic = (le: string, growth: number) => ({ le, range: '', layout: '', growth });
const range = (from: number, to: number, growth: number) => ({ le: '', range: `${from}...${to}`, layout: '', growth });
const side = { offset: 0, counts: [] };

test('within bounds of the sender the quantile is interpolated by value, as Prometheus 3.5 does', () => {
  expect(quantileOf(0.5, [range(1, 5, 100)])).toBe(3);
  expect(quantileOf(0.5, [range(-5, -1, 100)])).toBe(-3);
  expect(quantileOf(0.9, [range(1, 3, 50), range(3, 10, 50)])).toBeCloseTo(8.6, 10);
});

test.each([3, 2, 0, -2])('within exponential buckets of scale %i it is interpolated by logarithm', (scale) => {
  const histogram = { scale, zeroCount: 0, zeroThreshold: 0, negative: side, positive: { offset: 5, counts: [8] } };
  const [only] = toRanges(histogram)!;
  const base = 2 ** (2 ** -scale);
  expect(quantileOf(0.5, [{ le: '', range: only!.range, layout: '', growth: 8 }])! / base ** 5.5).toBeCloseTo(1, 4);
});

describe('senders of both forms', () => {
  const quick = [classic('1', 900), classic('5', 900), classic('+Inf', 900)];
  const slow = [range(4, 4.36203, 100)];

  test('count together where they are not the same observations', () => {
    expect(quantileOf(0.5, [...quick, ...slow])).toBeCloseTo(500 / 900, 6);
    expect(quantileOf(0.95, [...quick, ...slow])).toBeCloseTo(4 * 1.0905 ** 0.5, 2);
  });

  test('are answered by the finer one where they are', () => {
    const same = [classic('5', 100), classic('+Inf', 100)];
    expect(quantileOf(0.5, [...same, ...slow])).toBe(quantileOf(0.5, slow));
  });

  test('overlap by their shares', () => {
    const both = [classic('1', 0), classic('3', 100), classic('+Inf', 100), range(2, 4, 400)];
    // 50 lie in (1, 2]; 50 and 234 in (2, 3]; 166 in (3, 4].
    expect(quantileOf(0.1, both)).toBeCloseTo(2, 6);
    expect(quantileOf((50 + 50 + 400 * Math.log2(1.5)) / 500, both)).toBeCloseTo(3, 6);
    expect(quantileOf(1, both)).toBeCloseTo(4, 6);
  });
});

test('above the highest bound it is more than that bound', () => {
  const growths = [classic('1', 10), classic('+Inf', 100)];
  expect(measureQuantile(0.99, growths)).toEqual({ value: 1, isMoreThan: true });
  expect(measureQuantile(0.05, growths)).toEqual({ value: 0.5, isMoreThan: false });
});

describe('buckets that bound nothing', () => {
  const all = [classic('+Inf', 10)];

  test('answer nothing, as in Prometheus, where the observations may be negative', () => {
    expect(measureQuantile(0.5, all)).toBeNull();
    expect(measureQuantile(0.5, [range(-Infinity, Infinity, 3)])).toBeNull();
  });

  test('are bounded by the least and the greatest observation, as a histogram of OpenTelemetry without bounds', () => {
    expect(measureQuantile(0.5, all, { least: 2, greatest: 6 })).toEqual({ value: 4, isMoreThan: false });
    expect(measureQuantile(0.5, all, { least: -6, greatest: -2 })).toEqual({ value: -4, isMoreThan: false });
    expect(measureQuantile(0.5, all, { least: null, greatest: 6 })).toEqual({ value: 3, isMoreThan: false });
    expect(measureQuantile(1, all, { least: -6, greatest: null })).toEqual({ value: -6, isMoreThan: true });
  });
});

test('a higher quantile is no less where one sender has a lower highest bound than another', () => {
  const both = [classic('1', 0), classic('+Inf', 100), range(2, 2.1, 100), range(4, 4.36203, 100)];
  expect(measureQuantile(0.99, both)).toEqual({ value: 4.36203, isMoreThan: true });
});

describe('the least and the greatest observation', () => {
  const inSeconds = [classic('0', 0), classic('5', 100), classic('+Inf', 100)];

  test('bound the quantile within the lowest and the highest bucket that hold any', () => {
    const bounds = { least: 0.01, greatest: 0.06 };
    expect(quantileOf(0.95, inSeconds, bounds)).toBeCloseTo(0.0575, 9);
    expect(quantileOf(0, inSeconds, bounds)).toBe(0.01);
    expect(quantileOf(1, inSeconds, bounds)).toBe(0.06);
    expect(quantileOf(1, [range(0.01, 0.011, 5), range(0.05, 0.07, 5)], bounds)).toBe(0.06);
  });

  test('are not exceeded by rounding', () => {
    expect(quantileOf(1, [range(2.8, 3.05, 1)], { least: 1, greatest: 3 })).toBe(3);
  });

  test('close the highest bucket, which has no bound', () => {
    const growths = [classic('1', 0), classic('+Inf', 100)];
    expect(measureQuantile(0.5, growths, { least: null, greatest: 9 })).toEqual({ value: 5, isMoreThan: false });
  });

  test('are left out where the buckets contradict them, as those of another metric do', () => {
    const growths = [classic('1', 50), classic('5', 100), classic('+Inf', 100)];
    expect(quantileOf(0.99, growths, { least: 70, greatest: 0.5 })).toBe(quantileOf(0.99, growths));
    expect(quantileOf(0.5, [classic('5', 9)], { least: 4, greatest: 2 })).toBe(quantileOf(0.5, [classic('5', 9)]));
  });

  test('count only where as many series say them as count observations', () => {
    const told = { min: 0.01, max: 0.06 };
    expect(valueBoundsOf(told, { min: 2, max: 1, count: 2 })).toEqual({ least: 0.01, greatest: null });
    expect(valueBoundsOf({ min: null, max: Number.NaN }, { min: 1, max: 1, count: 1 })).toEqual({
      least: null,
      greatest: null,
    });
    expect(valueBoundsOf(told, { min: 0, max: 0, count: 0 })).toEqual({ least: null, greatest: null });
  });
});

describe('senders with different bounds', () => {
  /** Cumulative buckets of one sender that observed these values. */
  const bucketsOf = (sender: string, bounds: readonly number[], values: readonly number[]): SenderBucket[] =>
    [...bounds, Infinity].map((bound) => ({
      sender,
      le: bound === Infinity ? '+Inf' : String(bound),
      range: '',
      growth: values.filter((value) => value <= bound).length,
      samples: 4,
      newestMs: 1,
    }));

  test('are each spread within their own buckets', () => {
    const quick = bucketsOf('a', [1, 5], Array(100).fill(3));
    const slow = bucketsOf('b', [0.5, 2, 10], Array(100).fill(8));
    const growths = addUpByLayout([...quick, ...slow]);
    expect(quantileOf(0.25, growths)).toBeCloseTo(2 + 25 / 37.5, 9);
    // 100 lie evenly in (1, 5] and 100 in (2, 10].
    expect(quantileOf(0.75, growths)).toBeCloseTo(6, 9);
    expect(measureQuantile(1, growths)).toEqual({ value: 10, isMoreThan: false });
  });

  test('are answered as the observations that each of them counted, in 100 cases', () => {
    const layout = fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 6 });
    const host = fc.record({ bounds: layout, values: fc.array(fc.integer({ min: 1, max: 45 }), { maxLength: 30 }) });
    fc.assert(
      fc.property(fc.array(host, { minLength: 1, maxLength: 5 }), fc.integer({ min: 1, max: 99 }), (hosts, percent) => {
        const ordered = hosts.map(({ bounds, values }) => ({ bounds: bounds.toSorted((a, b) => a - b), values }));
        const total = hosts.reduce((sum, { values }) => sum + values.length, 0);
        const rank = (percent / 100) * total;
        /** Observations up to a value, each spread evenly within its bucket: an independent way to count them. */
        const upTo = (x: number) =>
          ordered.reduce(
            (sum, { bounds, values }) => sum + values.reduce((inner, value) => inner + shareUpTo(bounds, value, x), 0),
            0,
          );
        const growths = addUpByLayout(ordered.flatMap(({ bounds, values }, i) => bucketsOf(String(i), bounds, values)));
        const measured = measureQuantile(percent / 100, growths);
        const isAbove = upTo(40) < rank - 1e-9;
        expect(measured?.isMoreThan).toBe(total === 0 ? undefined : isAbove);
        if (measured === null || isAbove) return;
        expect(upTo(measured.value - 1e-6)).toBeLessThanOrEqual(rank + 1e-6);
        expect(upTo(measured.value + 1e-6)).toBeGreaterThanOrEqual(rank - 1e-6);
      }),
      { numRuns: 100, seed: 6 },
    );
  });

  test('that bound nothing take nothing from those of the others', () => {
    const growths = addUpByLayout([...bucketsOf('a', [1, 5], Array(9).fill(3)), ...bucketsOf('b', [], [9, 9])]);
    expect(quantileOf(0.5, growths)).toBe(3);
    expect(measureQuantile(1, growths)).toEqual({ value: 5, isMoreThan: false });
  });

  test('are told apart when one sender changes its bounds, by what stays and by what each time counted', () => {
    const begun = (buckets: SenderBucket[]) => buckets.map((bucket) => ({ ...bucket, newestMs: 9 }));
    const before = bucketsOf('a', [1, 5], Array(100).fill(3)).slice(0, 2);
    const after = begun(bucketsOf('a', [10, 50], Array(100).fill(30)).slice(0, 2));
    const always = { ...after[0]!, le: '+Inf', growth: 200, samples: 8 };
    const growths = addUpByLayout([...before, ...after, always]);
    expect(quantileOf(0.25, growths)).toBe(3);
    expect(quantileOf(0.75, growths)).toBe(30);
    // Nothing more is known of the values in (0, 20].
    const common = { ...always, le: '20', growth: 100 };
    expect(quantileOf(0.25, addUpByLayout([...before, ...after, always, common]))).toBe(10);
  });

  test('count once where they have the same, and a bucket that came a moment late changes no layout', () => {
    const bounds = [1, 5];
    const [first, ...others] = bucketsOf('a', bounds, [1, 3, 3]);
    const late = [{ ...first!, samples: 3 }, ...others, ...bucketsOf('b', bounds, [3])];
    expect(new Set(addUpByLayout(late).map(({ layout }) => layout)).size).toBe(1);
    expect(addUpByLayout(late)).toHaveLength(3);
  });
});

function shareUpTo(bounds: readonly number[], value: number, x: number): number {
  const to = bounds.find((bound) => value <= bound) ?? Infinity;
  const from = bounds.findLast((bound) => bound < to) ?? 0;
  return to === Infinity ? 0 : Math.min(1, Math.max(0, (x - from) / (to - from)));
}

describe('a heatmap', () => {
  const growths = fc.array(
    fc.oneof(
      fc
        .record({ le: fc.constantFrom('0', '1', '2.5', '10', '+Inf'), growth: fc.nat(50) })
        .map((b) => classic(b.le, b.growth)),
      fc
        .record({ index: fc.integer({ min: -300, max: 300 }), count: fc.nat(50), isBelow: fc.boolean() })
        .map(({ index, count, isBelow }) => {
          const [{ range: text } = { range: '' }] = toRanges({
            scale: 3,
            zeroCount: 0,
            zeroThreshold: 0,
            negative: isBelow ? { offset: index, counts: [1] } : side,
            positive: isBelow ? side : { offset: index, counts: [1] },
          })!;
          return { le: '', range: text, layout: '', growth: count };
        }),
    ),
    { maxLength: 30 },
  );

  test('holds each observation once, in at most 42 rows that follow each other', () => {
    fc.assert(
      fc.property(fc.array(growths, { maxLength: 4 }), (columns) => {
        const rows = heatmapOf(columns);
        expect(rows.length).toBeLessThanOrEqual(42);
        expect(rows.every(({ from, to }) => from < to)).toBe(true);
        expect(rows.slice(1).map(({ from }) => from)).toEqual(rows.slice(0, -1).map(({ to }) => to));
        for (const [column, ofColumn] of columns.entries()) {
          const shown = rows.reduce((sum, { counts }) => sum + counts[column]!, 0);
          const alone = heatmapOf([ofColumn]).reduce((sum, { counts }) => sum + counts[0]!, 0);
          expect(shown).toBeCloseTo(alone, 6);
        }
      }),
    );
  });

  test('of exponential buckets holds as many observations as they do', () => {
    const column = [
      range(-2, -1.83401, 3),
      range(0, 0, 5),
      range(1, 1.09051, 7),
      range(4, 8, 2),
      range(1e6, Infinity, 1),
    ];
    const counts = heatmapOf([column]).flatMap((row) => row.counts);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeCloseTo(18, 6);
  });

  test('has no rows without observations', () => {
    expect(heatmapOf([])).toEqual([]);
    expect(heatmapOf([[classic('1', 0)], []])).toEqual([]);
  });
});
