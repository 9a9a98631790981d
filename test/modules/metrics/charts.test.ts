import fc from '#test/kit/properties.ts';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';

import type { AnyOperation } from '#actions/action_context.ts';
import { describeLabels, describeMetrics } from '#modules/metrics/operations/describe_metrics.ts';
import { listChartMarks } from '#modules/metrics/operations/list_chart_marks.ts';
import { queryMetrics } from '#modules/metrics/operations/query_metric.ts';
import { AGGREGATIONS } from '#modules/metrics/decide/aggregation.ts';
import type { Id } from '#kernel/ids.ts';
import { newId } from '#kernel/ids.ts';
import { storesOf } from '#modules/stores.ts';
import { eventAt, groupAndStore } from '#test/modules/exceptions/given_events.ts';
import { givenMetrics } from '#test/kit/metrics/given_metrics.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { fileWorld } from '#test/kit/world.ts';

let serviceId: Id<'service'>;
const w = await fileWorld();
beforeEach(async () => {
  w.clock.set('2027-03-10T12:00:00Z');
  ({ serviceId } = await w.given.service());
});

const run = (operation: AnyOperation, input: object, orgId = w.orgId) =>
  runOperation(w, operation, memberCaller(orgId, newId('user'), 'viewer'), input);

/** The only result of one query, its series by name: the time of day and the value of each point. */
async function chart(query: object, period: object = { windowMinutes: 60 }) {
  const { results } = await run(queryMetrics, { ...period, queries: [{ serviceId, metricName: 'm', ...query }] });
  const [result] = results;
  const series = result.series.map((one: { value: string; isOther: boolean; steps: number[]; values: number[] }) => [
    one.isOther ? 'other' : one.value,
    one.steps.map((step, index) => [
      new Date(result.start + step * result.stepSeconds * 1_000).toISOString().slice(11, 19),
      one.values[index],
    ]),
  ]);
  return { ...result, series: Object.fromEntries(series) };
}

describe('a chart', () => {
  test('has the same values as query_metric, in each aggregation', async () => {
    const random = fc.sample(fc.integer({ min: 0, max: 50 }), 400);
    await givenMetrics(
      w,
      serviceId,
      { name: 'm', labels: { a: '1' }, minutes: 60, everySeconds: 15, value: (step) => random[step]! },
      {
        name: 'm',
        labels: { a: '2' },
        kind: 'counter',
        minutes: 60,
        everySeconds: 15,
        value: (step) => (step * 3) % 170,
      },
    );
    for (const aggregation of AGGREGATIONS) {
      const { points, from } = await w.expectOk('query_metric', { serviceId, metricName: 'm', aggregation });
      const meant = points.map(({ at, value }: { at: string; value: number }) => [at.slice(11, 19), value]);
      const { series, start, stepSeconds } = await chart({ aggregation });
      expect(stepSeconds).toBe(15);
      expect(new Date(start).toISOString()).toBe(from);
      // The bucket of this moment belongs to the last minutes, but not to a period that ends now.
      expect(series.null, aggregation).toEqual(meant.slice(0, -1));
    }
  });

  test('shows a counter as its rate and a gauge as its mean unless asked otherwise', async () => {
    const [all, other] = [
      { minutes: 60, everySeconds: 15 },
      { labels: { a: '1' }, minutes: 60, everySeconds: 15 },
    ];
    await givenMetrics(
      w,
      serviceId,
      { name: 'seen', kind: 'counter', ...all, value: (step) => step * 30 },
      { name: 'depth', ...other, value: () => 7 },
    );
    const newest = async (query: object) => {
      const { aggregation, isRate, series } = await chart(query);
      return [aggregation, isRate, series.null.at(-2)[1]];
    };
    expect(await newest({ metricName: 'seen' })).toEqual(['sum', true, 2]);
    expect(await newest({ metricName: 'seen', aggregation: 'sum' })).toEqual(['sum', false, 30]);
    expect(await newest({ metricName: 'seen / seen' })).toEqual(['sum', false, 1]);
    expect(await newest({ metricName: 'depth' })).toEqual(['avg', false, 7]);
    expect((await run(describeLabels, { serviceId, metricName: 'seen' })).kind).toBe('counter');
  });

  test('shows at most two points a pixel, and every peak and every valley among them', async () => {
    const peaks = new Map([
      [700, 9_000],
      [1_111, -500],
    ]);
    await givenMetrics(w, serviceId, {
      name: 'm',
      minutes: 1_500,
      everySeconds: 60,
      value: (step) => peaks.get(step) ?? 100 + (step % 7),
    });
    const pixels = 100;
    const { series, isReduced } = await chart({ pixels, aggregation: 'max' }, { windowMinutes: 1_500 });
    expect(isReduced).toBe(true);
    const values = series.null.map(([, value]: [string, number]) => value);
    expect(values.length).toBeLessThanOrEqual(2 * pixels + 3);
    expect(values.length).toBeGreaterThan(pixels);
    expect(Math.max(...values)).toBe(9_000);
    expect(Math.min(...values)).toBe(-500);
    expect(values.at(-1)).toBe(100 + (1_499 % 7));
  });

  test('is split by the values of a label, the greatest first, and all others together', async () => {
    const route = (name: string, base: number) => ({
      name: 'm',
      labels: { route: name },
      minutes: 5,
      everySeconds: 60,
      value: () => base,
    });
    const bare = { name: 'm', minutes: 5, everySeconds: 60, value: () => 4 };
    await givenMetrics(w, serviceId, route('/a', 1), route('/b', 50), route('/c', 20), route('/d', 3), bare);
    const { series, valueCount } = await chart({ splitBy: 'route', top: 2, aggregation: 'max' });
    expect(Object.keys(series)).toEqual(['/b', '/c', 'other']);
    expect(valueCount).toBe(5);
    expect(series['/b'].map(([, value]: [string, number]) => value)).toEqual([50, 50, 50, 50, 50]);
    expect(series.other[0][1]).toBe(4);
    // The parts of a sum are the whole.
    const whole = (await chart({ aggregation: 'sum' })).series.null;
    const parts = Object.values<[string, number][]>(
      (await chart({ splitBy: 'route', top: 2, aggregation: 'sum' })).series,
    );
    for (const [index, [, value]] of whole.entries()) {
      expect(parts.reduce((sum, part) => sum + part[index]![1], 0)).toBe(value);
    }
    const all = await chart({ splitBy: 'route', top: 10, aggregation: 'max' });
    expect(Object.keys(all.series)).toEqual(['/b', '/c', '', '/d', '/a']);
    const filtered = await chart({ metricName: 'm{route=~"/a|/b"}', splitBy: 'route', aggregation: 'max' });
    expect(Object.keys(filtered.series)).toEqual(['/b', '/a']);
  });

  test('of an earlier day is moved to this one, to be compared', async () => {
    await givenMetrics(w, serviceId, { name: 'm', minutes: 1_500, everySeconds: 60, value: (step) => step });
    const [now, before] = [await chart({}), await chart({ offsetDays: 1 })];
    expect(before.start).toBe(now.start);
    expect(before.series.null.map(([at]: [string]) => at)).toEqual(now.series.null.map(([at]: [string]) => at));
    expect(now.series.null[0][1] - before.series.null[0][1]).toBe(1_440);
  });

  test('of an absolute period has what was then, and points that are not kept are not there', async () => {
    await givenMetrics(w, serviceId, { name: 'm', minutes: 3 * 1_440, everySeconds: 600, value: () => 1 });
    const day = { from: '2027-03-09T00:00:00Z', to: '2027-03-09T02:00:00Z' };
    expect((await chart({}, day)).series.null).toHaveLength(12);
    await w.expectOk('set_retention', { serviceId, capability: 'metrics', retentionDays: 1 });
    expect((await chart({}, day)).series).toEqual({});
  });

  test('that cannot be made leaves the others of its request alone', async () => {
    await givenMetrics(w, serviceId, { name: 'queue_depth', minutes: 5, everySeconds: 60, value: () => 1 });
    const other = await w.given.organization('Umbrella');
    const own = { serviceId, metricName: 'queue_depth' };
    const { results } = await run(queryMetrics, {
      queries: [
        { ...own, metricName: 'queue_depth{' },
        { ...own, metricName: 'queue_dpeth' },
        { ...own, metricName: 'disk_used' },
        { ...own, serviceId: 'service_00000000000000000000000000' },
        own,
      ],
    });
    expect(results[0].fault).toMatch(/at character/);
    expect(results[1]).toMatchObject({ fault: null, series: [], nearest: ['queue_depth'] });
    expect(results[2]).toMatchObject({ fault: null, series: [], nearest: [] });
    expect(results[3].fault).toContain('names no service of your organization');
    expect(results[4].series).toHaveLength(1);
    // Nobody else sees it, not even that it is there.
    const foreign = await run(queryMetrics, { queries: [own] }, other.orgId);
    expect(foreign.results).toMatchObject([{ series: [], nearest: [], fault: results[3].fault }]);
  });

  test('of a malformed period is refused, with what to do', async () => {
    const queries = [{ serviceId, metricName: 'm' }];
    for (const [period, path] of [
      [{ from: '2027-03-09T00:00:00Z' }, 'to'],
      [{ from: '2027-03-09T02:00:00Z', to: '2027-03-09T00:00:00Z' }, 'to'],
      [{ from: '2020-03-09T02:00:00Z', to: '2027-03-09T00:00:00Z' }, 'from'],
      [{ windowMinutes: 0 }, 'windowMinutes'],
    ] as const) {
      await expect(run(queryMetrics, { ...period, queries }), JSON.stringify(period)).rejects.toMatchObject({
        code: 'invalid_input',
        faults: [{ path }],
      });
    }
    await expect(run(queryMetrics, { queries: Array.from({ length: 61 }, () => queries[0]) })).rejects.toMatchObject({
      code: 'invalid_input',
    });
  });
});

describe('the metrics of a service', () => {
  test('are listed with kind, series, last value and the last hour, page by page', async () => {
    const gauge = { minutes: 30, everySeconds: 60, value: () => 0.5 };
    await givenMetrics(
      w,
      serviceId,
      { name: 'http_requests_total', kind: 'counter', minutes: 50, everySeconds: 60, value: (step) => step * 10 },
      ...['a', 'b', 'c'].map((host) => ({ ...gauge, name: 'cpu_ratio', labels: { host } })),
    );
    await storesOf(w.context.db.session()).metricTypes.announce(
      [{ serviceId, name: 'cpu_ratio', type: 2, unit: '1' }],
      w.clock.now(),
    );
    expect(await chart({ metricName: 'cpu_ratio{host="a"}' })).toMatchObject({ unit: '1' });
    expect(await chart({ metricName: 'cpu_ratio / cpu_ratio' })).toMatchObject({ unit: null });
    const first = await run(describeMetrics, { serviceId, limit: 1 });
    expect(first).toMatchObject({ total: 2, nextOffset: 1, nearest: [] });
    expect(first.metrics).toMatchObject([
      {
        metricName: 'cpu_ratio',
        kind: 'gauge',
        type: 'gauge',
        unit: '1',
        aggregation: 'avg',
        seriesCount: 3,
        lastValue: 0.5,
      },
    ]);
    const second = await run(describeMetrics, { serviceId, limit: 1, offset: 1 });
    expect(second).toMatchObject({ nextOffset: null });
    expect(second.metrics).toMatchObject([
      {
        metricName: 'http_requests_total',
        kind: 'counter',
        type: null,
        unit: null,
        aggregation: 'sum',
        seriesCount: 1,
        lastValue: 10,
      },
    ]);
    expect(second.metrics[0].preview.values.length).toBeGreaterThan(40);
    const bySeries = await run(describeMetrics, { serviceId, sort: 'series', text: 'cpu RATIO' });
    expect(bySeries).toMatchObject({ total: 1 });
    const misspelt = await run(describeMetrics, { serviceId, text: 'htpp_requests_total' });
    expect(misspelt).toMatchObject({ metrics: [], total: 0, nearest: ['http_requests_total'] });
    const other = await w.given.organization('Other');
    await expect(run(describeMetrics, { serviceId }, other.orgId)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('that are a histogram are listed once, with a quantile, and their labels are those of its counts', async () => {
    const counter = { kind: 'counter', minutes: 30, everySeconds: 60 } as const;
    const route = { route: '/pay' };
    await givenMetrics(
      w,
      serviceId,
      { ...counter, name: 'wait_bucket', labels: { ...route, le: '1' }, value: (step) => step * 5 },
      { ...counter, name: 'wait_bucket', labels: { ...route, le: '2' }, value: (step) => step * 10 },
      { ...counter, name: 'wait_bucket', labels: { ...route, le: '+Inf' }, value: (step) => step * 10 },
      { ...counter, name: 'wait_count', labels: route, value: (step) => step * 10 },
      { ...counter, name: 'wait_sum', labels: route, value: (step) => step * 12 },
      { ...counter, name: 'jobs_count', kind: 'gauge', value: () => 3 },
      ...['1', '2'].map((le) => ({ ...counter, name: 'bare_bucket', labels: { ...route, le }, value: () => 1 })),
    );
    const { metrics, total } = await run(describeMetrics, { serviceId });
    expect([total, metrics.shift()]).toMatchObject([3, { metricName: 'bare', seriesCount: 1 }]);
    const ofBuckets = await run(describeLabels, { serviceId, metricName: 'bare{quantile="0.5"}' });
    expect(ofBuckets).toMatchObject({ seriesCount: 1, labels: [{ label: 'route' }] });
    expect(metrics).toMatchObject([
      { metricName: 'jobs_count', isHistogram: false, lastValue: 3 },
      { metricName: 'wait', isHistogram: true, type: 'histogram', kind: null, seriesCount: 1 },
    ]);
    expect(metrics[1].lastValue).toBeCloseTo(1.9);
    expect(metrics[1].preview.values.length).toBeGreaterThan(20);
    expect(await run(describeMetrics, { serviceId, text: 'wait sum' })).toMatchObject({
      metrics: [{ metricName: 'wait', isHistogram: true }],
    });
    expect(await run(describeLabels, { serviceId, metricName: 'wait{quantile="0.95"}' })).toMatchObject({
      seriesCount: 1,
      labels: [{ label: 'route', values: [{ value: '/pay', seriesCount: 1 }] }],
    });
  });

  test('of more series than a preview is made of have their last value all the same', async () => {
    const hosts = Array.from({ length: 2_001 }, (_, index) => ({
      name: 'load',
      labels: { host: `web-${index}` },
      minutes: 2,
      everySeconds: 60,
      value: () => 7,
    }));
    await givenMetrics(w, serviceId, ...hosts);
    const { metrics } = await run(describeMetrics, { serviceId });
    expect(metrics).toMatchObject([{ seriesCount: 2_001, lastValue: 7, preview: null }]);
  });

  test('have labels with their values and how many series bear each', async () => {
    const series = [
      { route: '/a', status: '200' },
      { route: '/a', status: '500' },
      { route: '/b', status: '200' },
      { route: '/b' },
    ];
    await givenMetrics(
      w,
      serviceId,
      ...series.map((labels) => ({ name: 'm', labels, minutes: 5, everySeconds: 60, value: () => 1 })),
    );
    expect(await run(describeLabels, { serviceId, metricName: 'm' })).toEqual({
      kind: 'gauge',
      seriesCount: 4,
      labelCount: 2,
      labels: [
        {
          label: 'route',
          valueCount: 2,
          seriesCount: 4,
          values: [
            { value: '/a', seriesCount: 2 },
            { value: '/b', seriesCount: 2 },
          ],
        },
        {
          label: 'status',
          valueCount: 2,
          seriesCount: 3,
          values: [
            { value: '200', seriesCount: 2 },
            { value: '500', seriesCount: 1 },
          ],
        },
      ],
    });
    const some = await run(describeLabels, { serviceId, metricName: 'm{route="/a"}', label: 'status', text: '5' });
    expect(some).toMatchObject({ seriesCount: 2, labels: [{ valueCount: 1, values: [{ value: '500' }] }] });
    expect(await run(describeLabels, { serviceId, metricName: 'm', labelText: 'STAT' })).toMatchObject({
      labelCount: 1,
      labels: [{ label: 'status' }],
    });
    const other = await w.given.organization('Third');
    await expect(run(describeLabels, { serviceId, metricName: 'm' }, other.orgId)).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});

test('incidents that were open in a period are marked, those of others are not', async () => {
  const period = { from: '2027-03-10T11:00:00Z', to: '2027-03-10T12:00:00Z' };
  const asked = vi.spyOn(w.context.actions.exceptions, 'listNewReleases');
  onTestFinished(() => asked.mockRestore());
  const marks = await run(listChartMarks, { serviceIds: [serviceId], ...period });
  expect(marks).toEqual({ deploys: [], incidents: [], releases: [] });
  expect(asked, 'the service has no exception').not.toHaveBeenCalled();
  await expect(run(listChartMarks, { serviceIds: [], from: 'x', to: 'y' })).rejects.toMatchObject({
    code: 'invalid_input',
  });
});

test('a release is marked where its first exception was, and not where it had been seen before', async () => {
  const event = (release: string, minutes: number) => eventAt(w, { release, ago: { minutes } });
  await groupAndStore(w, serviceId, [
    event('1.0.0', 600),
    event('1.0.0', 20),
    event('1.1.0', 30),
    event('1.1.0', 10),
    event('', 5),
  ]);
  const marks = (minutes: number) => {
    const [from, to] = [w.clock.now().subtract({ minutes }), w.clock.now()].map(String);
    return run(listChartMarks, { serviceIds: [serviceId], from, to });
  };
  const at = w.clock.now().subtract({ minutes: 30 }).toString({ smallestUnit: 'millisecond' });
  expect((await marks(60)).releases).toEqual([{ release: '1.1.0', serviceId, at }]);
  expect((await marks(25)).releases).toEqual([]);
  expect((await marks(601)).releases.map(({ release }: { release: string }) => release)).toEqual(['1.1.0', '1.0.0']);
});
