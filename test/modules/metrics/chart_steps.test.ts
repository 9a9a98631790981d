import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { queryMetrics } from '#modules/metrics/operations/query_metric.ts';
import { cutRange } from '#modules/metrics/decide/buckets.ts';
import { newId, type Id } from '#kernel/ids.ts';
import fc, { sweep } from '#test/kit/properties.ts';
import { givenMetrics } from '#test/kit/metrics/given_metrics.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type World, world } from '#test/kit/world.ts';

let w: World;
let serviceId: Id<'service'>;
beforeAll(async () => {
  w = await world({ keepOpen: true });
});
afterAll(() => w.close());
beforeEach(async () => {
  ({ serviceId } = await w.given.service());
});

const NOW = '2027-03-10T12:00:50Z';

/** Stores what hosts send every so many seconds, each so many seconds behind the minute. */
async function givenHosts(
  behind: readonly number[],
  { everySeconds = 60, kind = 'gauge', perPoint = 0, minutes = 120 }: Partial<Sent> = {},
): Promise<void> {
  for (const [host, seconds] of behind.entries()) {
    w.clock.set(`2027-03-10T12:00:${String(seconds).padStart(2, '0')}Z`);
    const value = (step: number) => (kind === 'gauge' ? 100 : step * perPoint);
    await givenMetrics(w, serviceId, { name: 'm', labels: { host: `h${host}` }, kind, minutes, everySeconds, value });
  }
  w.clock.set(NOW);
}

interface Sent {
  readonly everySeconds: number;
  readonly kind: 'gauge' | 'counter';
  readonly perPoint: number;
  readonly minutes: number;
}

async function chart(query: object, windowMinutes = 60) {
  const viewer = memberCaller(w.orgId, newId('user'), 'viewer');
  const queries = [{ serviceId, metricName: 'm', ...query }];
  const { results } = await runOperation(w, queryMetrics, viewer, { windowMinutes, queries });
  const [{ stepSeconds, rateSeconds, series }] = results;
  return { stepSeconds, rateSeconds, values: [...new Set(series[0].values.slice(1))] };
}

describe('the step of a chart is not below the interval of sending', () => {
  test.each(sweep([30, 60, 360, 180], 2))(
    'where hosts send at other seconds of a minute, over %i minutes',
    async (minutes) => {
      // Two hosts at 2/s each, fifteen seconds apart.
      await givenHosts([0, 15], { kind: 'counter', perPoint: 120, minutes: 400 });
      const rate = await chart({}, minutes);
      expect(rate).toEqual({ stepSeconds: 60, rateSeconds: 60, values: [4] });
      expect((await chart({ aggregation: 'sum' }, minutes)).values).toEqual([240]);
      expect((await chart({ aggregation: 'count' }, minutes)).values).toEqual([2]);
    },
  );

  test('so that the newest of each series are all added up, and all are in a mean', async () => {
    await givenHosts([0, 15, 30, 45]);
    expect(await chart({ aggregation: 'last' })).toMatchObject({ stepSeconds: 60, values: [400] });
    expect(await chart({ aggregation: 'avg' })).toMatchObject({ stepSeconds: 60, values: [100] });
  });

  test('and of a round width that holds whole intervals', async () => {
    await givenHosts([0, 10], { everySeconds: 20 });
    expect(await chart({ aggregation: 'last' })).toMatchObject({ stepSeconds: 60, values: [200] });
    expect(await chart({}, 3_000)).toMatchObject({ stepSeconds: 60 });
  });

  test('nor such that some hold more points than others', async () => {
    await givenHosts([50], { everySeconds: 10, kind: 'counter', perPoint: 20 });
    expect(await chart({})).toEqual({ stepSeconds: 30, rateSeconds: 30, values: [2] });
    expect(await chart({}, 20)).toEqual({ stepSeconds: 10, rateSeconds: 10, values: [2] });
  });

  test('and as fine as before where points come at no interval', async () => {
    w.clock.set(NOW);
    const value = (step: number) => (step % 7 === 0 || step % 11 === 3 ? 1 : null);
    await givenMetrics(w, serviceId, { name: 'm', minutes: 60, everySeconds: 20, value });
    expect(await chart({})).toMatchObject({ stepSeconds: 15 });
  });
});

test('a chart is cut in steps that divide a day, and never in more than 43,200', () => {
  const length = fc.integer({ min: 1, max: 400 * 1_440 });
  fc.assert(
    fc.property(length, fc.integer({ min: 0, max: 4e12 }), fc.integer({ min: 20, max: 4_000 }), (minutes, end, px) => {
      const from = end - minutes * 60_000;
      const { fromMs, toMs, stepMs, columnMs } = cutRange(from, end, px);
      expect(fromMs).toBeLessThanOrEqual(from);
      expect(from - fromMs).toBeLessThan(stepMs);
      expect(toMs).toBeGreaterThanOrEqual(end);
      expect(toMs - end).toBeLessThan(stepMs);
      const buckets = (toMs - fromMs) / stepMs;
      expect(buckets).toBeLessThanOrEqual(43_201);
      const points = columnMs === null ? buckets : 2 * (Math.ceil((toMs - fromMs) / columnMs) + 1);
      expect(points).toBeLessThanOrEqual(2 * px + 2);
      expect((columnMs ?? 0) % stepMs).toBe(0);
    }),
  );
});
