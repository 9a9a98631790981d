import { expect, test } from 'vitest';

import { AGGREGATIONS } from '#modules/metrics/decide/aggregation.ts';
import { isLate, LATE_FOR_MS } from '#modules/metrics/decide/late_points.ts';
import { type PointKind, POINT_KINDS } from '#modules/metrics/decide/point.ts';
import { PointBatch } from '#ingest/admission/point_batch.ts';
import { type Id, newId } from '#kernel/ids.ts';
import { silentLog } from '#kernel/log.ts';
import { Temporal } from '#kernel/time.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { MetricWriter } from '#modules/metrics/store/metric_writer.ts';
import { RecentPoints } from '#modules/metrics/store/recent_points.ts';
import { type RuleQuestion, RuleReader } from '#modules/rules/store/rule_reader.ts';
import { columnsOf, seriesKey } from '#test/kit/metrics/points.ts';
import fc, { slowRuns, sweep } from '#test/kit/properties.ts';
import { fileWorld } from '#test/kit/world.ts';

const w = await fileWorld();
const writer = new MetricWriter(w.context.clickhouse);

const START = Temporal.Instant.from('2027-03-10T00:02:30.500Z');

interface Sent {
  readonly service: number;
  readonly metric: string;
  readonly labels: readonly string[];
  readonly ageMs: number;
  readonly value: number;
  readonly kind: PointKind;
}

/**
 * Points that arrive, the delay until rules are evaluated, which rules, and whether by a process that has just started.
 */
interface Step {
  readonly sent: readonly Sent[];
  readonly passMs: number;
  readonly asked: 'all' | 'short' | 'long';
  readonly isRestarted: boolean;
}

const sent: fc.Arbitrary<Sent> = fc.record({
  service: fc.integer({ min: 0, max: 1 }),
  metric: fc.constantFrom('m', 'n', 'h_bucket'),
  labels: fc.constantFrom<string[]>([], ['code', '500'], ['code', '503'], ['le', '1'], ['le', '5']),
  ageMs: fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: -5_000, max: 20_000 }) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 30 * 60_000 }) },
    { weight: 1, arbitrary: fc.constantFrom(60_000, 60_001, 300_000, 0) },
  ),
  value: fc.integer({ min: 0, max: 50 }),
  kind: fc.oneof(fc.constant('counter' as const), fc.constantFrom(...POINT_KINDS)),
});

const step: fc.Arbitrary<Step> = fc.record({
  sent: fc.array(sent, { maxLength: 25 }),
  passMs: fc.oneof(fc.integer({ min: 0, max: 15_000 }), fc.integer({ min: 0, max: 400_000 })),
  asked: fc.constantFrom('all', 'short', 'long'),
  isRestarted: fc.integer({ max: 9, min: 0 }).map((one) => one === 0),
});

const bounds = fc.record({
  weightMax: fc.constantFrom(4_000_000, 400),
  metricWeightMax: fc.constantFrom(500_000, 250),
  filledAtOnce: fc.constantFrom(250_000, 30),
});

const NAMES = [
  'm',
  'm{code="500"}',
  'm{code=~"5.."}',
  'n',
  'n{code!="503"}',
  'h{quantile="0.5"}',
  'nothing',
  'm{code="500"} / n * 100',
  'm / m{code!="503"}',
];
const WINDOWS = { short: [1, 5, 15], long: [16, 60] };
/** Seven has no factor in common with the 30 questions of each name. */
const ASKED = sweep(
  [0, 1].flatMap((service) =>
    NAMES.flatMap((metricName) =>
      [...WINDOWS.short, ...WINDOWS.long].flatMap((windowMinutes) =>
        AGGREGATIONS.map((aggregation) => ({ service, metricName, windowMinutes, aggregation, ruleId: newId('rule') })),
      ),
    ),
  ),
  7,
);

/** Late services, which production keeps in PostgreSQL. */
class LateServices {
  readonly #storedAt = new Map<Id<'service'>, number>();

  stored(serviceId: Id<'service'>, oldestMs: number, now: Temporal.Instant): void {
    if (isLate(oldestMs, now)) this.#storedAt.set(serviceId, now.epochMilliseconds);
  }

  listSince = async (nowMs: number): Promise<ReadonlySet<Id<'service'>>> =>
    new Set([...this.#storedAt].filter(([, at]) => at >= nowMs - LATE_FOR_MS).map(([serviceId]) => serviceId));
}

test('rules get the values that the store gives, whatever arrives when, and after a restart', async () => {
  let inMemory = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 2, maxLength: 6 }),
      bounds,
      fc.boolean(),
      async (steps, limits, isShortlyKept) => {
        const services = [newId('service'), newId('service')];
        const late = new LateServices();
        const start = (): RuleReader => {
          const recent = new RecentPoints(w.context.clickhouse, late.listSince, silentLog, limits);
          const read: RecentPoints['read'] = async (needed, nowMs) => {
            const found = await recent.read(needed, nowMs);
            inMemory += found.size;
            return found;
          };
          return new RuleReader(w.context.clickhouse, { read });
        };
        let reader = start();
        const store = new RuleReader(w.context.clickhouse);
        let now = START;
        for (const [index, { sent: arriving, passMs, asked, isRestarted }] of steps.entries()) {
          for (const [service, serviceId] of services.entries()) {
            const own = arriving.filter((one) => one.service === service);
            if (own.length === 0) continue;
            await writer.insert([{ serviceId, points: columnsOf(toBatch(own, now)) }], `${serviceId}-${index}`);
            const oldestMs = now.epochMilliseconds - Math.max(...own.map(({ ageMs }) => ageMs));
            late.stored(serviceId, oldestMs, now);
          }
          now = now.add({ milliseconds: passMs });
          if (isRestarted) reader = start();
          const keptSince = now.subtract({ minutes: isShortlyKept ? 7 : 40_000 });
          const questions = ASKED.filter(
            ({ windowMinutes }) => asked === 'all' || WINDOWS[asked].includes(windowMinutes),
          ).map(({ service, ...one }): RuleQuestion => ({ ...one, serviceId: services[service]!, keptSince }));
          const [found, meant] = [await reader.evaluate(questions, now), await store.evaluate(questions, now)];
          expect([...found.failed]).toEqual([]);
          for (const { ruleId, ...one } of questions) {
            const what = `${one.aggregation} of ${one.metricName} over ${one.windowMinutes} min in step ${index}`;
            expect(rounded(found.values.get(ruleId)), what).toBe(rounded(meant.values.get(ruleId)));
          }
        }
      },
    ),
    { numRuns: slowRuns(8) },
  );
  expect(inMemory).toBeGreaterThan(0);
});

test('an evaluation reads again only what is new, and the whole window where points came late', async () => {
  const serviceId = newId('service');
  const late = new LateServices();
  const asked: string[] = [];
  const client: ClickHouseClient = Object.assign(Object.create(w.context.clickhouse), {
    query: (parameters: Parameters<ClickHouseClient['query']>[0]) => {
      const { since, oldest, from } = (parameters.query_params ?? {}) as Record<string, number>;
      asked.push(
        `${since === undefined ? 'window' : 'points'} of ${(now.epochMilliseconds - (since ?? oldest ?? from!)) / 1_000} s`,
      );
      return w.context.clickhouse.query(parameters);
    },
  });
  const reader = new RuleReader(client, new RecentPoints(client, late.listSince, silentLog));
  let now = START;
  let inserts = 0;
  const arrives = async (value: number, ageMs: number): Promise<void> => {
    inserts += 1;
    const point = { service: 0, metric: 'm', labels: [], ageMs, value, kind: 'gauge' } as const;
    await writer.insert([{ serviceId, points: columnsOf(toBatch([point], now)) }], `${serviceId}-${inserts}`);
    late.stored(serviceId, now.epochMilliseconds - ageMs, now);
  };
  const evaluate = async (): Promise<unknown> => {
    asked.length = 0;
    const keptSince = now.subtract({ hours: 24 });
    const question = {
      metricName: 'm',
      windowMinutes: 60,
      aggregation: 'max',
      ruleId: newId('rule'),
      serviceId,
    } as const;
    const { values } = await reader.evaluate([{ ...question, keptSince }], now);
    return values.get(question.ruleId);
  };
  await arrives(3, 50_000);
  expect([await evaluate(), asked]).toEqual([3, ['points of 3899.999 s', 'points of 3899.999 s']]);
  now = now.add({ seconds: 5 });
  await arrives(4, 1_000);
  expect([await evaluate(), asked]).toEqual([4, ['points of 94.999 s']]);
  await arrives(9, 1_200_000);
  expect([await evaluate(), asked]).toEqual([9, ['window of 3899.999 s']]);
});

function toBatch(points: readonly Sent[], now: Temporal.Instant): PointBatch {
  const batch = new PointBatch();
  for (const { metric, labels, ageMs, value, kind } of points) {
    const series = { name: metric, labels: [...labels], key: seriesKey(metric, [...labels]) };
    batch.add(batch.addSeries(series), now.epochMilliseconds - ageMs, value, kind);
  }
  return batch;
}

function rounded(value: number | null | undefined): number | null | undefined {
  return value === null || value === undefined ? value : Number(value.toPrecision(9));
}
