import fc, { slowRuns, sweep } from '#test/kit/properties.ts';
import { expect, test } from 'vitest';

import { AGGREGATIONS } from '#modules/metrics/decide/aggregation.ts';
import { type PointKind, POINT_KINDS } from '#modules/metrics/decide/point.ts';
import { parseExpression } from '#modules/metrics/decide/selector.ts';
import { PointBatch } from '#ingest/admission/point_batch.ts';
import { newId } from '#kernel/ids.ts';
import { fromEpochMilliseconds, Temporal } from '#kernel/time.ts';
import { historyOfSides } from '#modules/metrics/expression_values.ts';
import { judgedHistory } from '#modules/rules/decide/judged_value.ts';
import { MetricReader } from '#modules/metrics/store/metric_reader.ts';
import { MetricWriter } from '#modules/metrics/store/metric_writer.ts';
import { RuleReader } from '#modules/rules/store/rule_reader.ts';
import { columnsOf, seriesKey } from '#test/kit/metrics/points.ts';
import { fileWorld } from '#test/kit/world.ts';

const w = await fileWorld();
const writer = new MetricWriter(w.context.clickhouse);

const MINUTE = 60_000;
/** Half an hour around midnight, where partitions meet. */
const FIRST = Temporal.Instant.from('2027-03-09T23:50:00Z').epochMilliseconds / MINUTE;
const LAST = FIRST + 25;

interface Point {
  readonly labels: readonly string[];
  readonly at: number;
  readonly value: number;
  readonly kind: PointKind;
}

const point: fc.Arbitrary<Point> = fc.record({
  labels: fc.constantFrom([], ['code', '500'], ['code', '200']),
  at: fc
    .oneof(
      fc.integer({ min: -15 * 60, max: 30 * 60 }).map((second) => second * 1_000),
      fc.integer({ min: -15, max: 30 }).map((minute) => minute * MINUTE),
      fc.integer({ min: -15, max: 30 }).map((minute) => minute * MINUTE + 1),
    )
    .map((offset) => FIRST * MINUTE + offset),
  value: fc.integer({ min: -6, max: 12 }),
  kind: fc.oneof(fc.constant('counter' as const), fc.constantFrom(...POINT_KINDS)),
});

const EVERY = ['m', 'm{code="500"}', 'm{code!~"2.."}', 'm{code="500"} / m * 100', 'm / m{code="200"}'].flatMap(
  (metricName) =>
    [1, 4, 7, 60].flatMap((windowMinutes) =>
      AGGREGATIONS.map((aggregation) => ({ metricName, windowMinutes, aggregation })),
    ),
);

/** Eleven has no factor in common with the 24 questions of each metric. */
const ASKED = sweep(EVERY, 11);

test('the history of a rule is what its evaluation measures at each of these minutes', async () => {
  const reader = new MetricReader(w.context.clickhouse);
  const rules = new RuleReader(w.context.clickhouse);
  const keptSince = fromEpochMilliseconds((FIRST - 10_000) * MINUTE);
  await fc.assert(
    fc.asyncProperty(fc.array(point, { minLength: 1, maxLength: 120 }), async (points) => {
      const serviceId = newId('service');
      await writer.insert([{ serviceId, points: columnsOf(toBatch(points)) }], serviceId);
      const questions = ASKED.map((asked) => ({ ...asked, ruleId: newId('rule'), serviceId, keptSince }));
      const histories = await Promise.all(
        ASKED.map(async ({ metricName, aggregation, windowMinutes }) => {
          const expression = parseExpression(metricName);
          const sides = await historyOfSides(
            reader,
            { serviceId, aggregation, windowMinutes, firstMs: FIRST * MINUTE, lastMs: LAST * MINUTE, keptSince },
            expression,
          );
          return judgedHistory([sides], { comparator: '>', factor: expression.factor, trafficAtLeast: null });
        }),
      );
      for (let minute = FIRST; minute <= LAST; minute += 5) {
        const { values } = await rules.evaluate(questions, fromEpochMilliseconds(minute * MINUTE));
        for (const [index, { ruleId, ...asked }] of questions.entries()) {
          const found = histories[index]!.values[minute - FIRST];
          expect(rounded(found), JSON.stringify({ ...asked, minute: minute - FIRST })).toBe(
            rounded(values.get(ruleId)),
          );
        }
      }
    }),
    { numRuns: slowRuns(8) },
  );
});

function rounded(value: number | null | undefined): number | null | undefined {
  return value === null || value === undefined ? value : Number(value.toPrecision(9));
}

function toBatch(points: readonly Point[]): PointBatch {
  const batch = new PointBatch();
  for (const { labels, at, value, kind } of points) {
    const series = { name: 'm', labels, key: seriesKey('m', labels) };
    batch.add(batch.addSeries(series), at, value, kind);
  }
  return batch;
}
