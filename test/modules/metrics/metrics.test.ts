import { beforeEach, expect, test } from 'vitest';

import { type PointKind } from '#modules/metrics/decide/point.ts';
import { PointBatch } from '#ingest/admission/point_batch.ts';
import { type Id, newId } from '#kernel/ids.ts';
import { queryMetrics } from '#modules/metrics/operations/query_metric.ts';
import { givenMetrics } from '#test/kit/metrics/given_metrics.ts';
import { sweep } from '#test/kit/properties.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { MetricWriter } from '#modules/metrics/store/metric_writer.ts';
import { columnsOf, seriesKey } from '#test/kit/metrics/points.ts';
import { fileWorld } from '#test/kit/world.ts';

let serviceId: Id<'service'>;
let inserts = 0;
const w = await fileWorld();
beforeEach(async () => {
  w.clock.set('2027-03-10T12:00:30Z');
  ({ serviceId } = await w.given.service());
});

interface Given {
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly at: string;
  readonly value: number;
  readonly kind?: PointKind;
}

/** Times are of the day of the test: `11:59:30`. */
async function points(...given: readonly Given[]): Promise<void> {
  const batch = new PointBatch();
  for (const { name = 'm', labels = {}, at, value, kind = 'gauge' } of given) {
    const pairs = Object.entries(labels)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .flat();
    const series = batch.addSeries({ name, labels: pairs, key: seriesKey(name, pairs) });
    batch.add(series, Date.parse(at.includes('T') ? at : `2027-03-10T${at}Z`), value, kind);
  }
  inserts += 1;
  await new MetricWriter(w.context.clickhouse).insert([{ serviceId, points: columnsOf(batch) }], `test-${inserts}`);
}

/** Returns the answer to a query: values by time, as `11:59:00`. */
async function query(body: object = {}): Promise<Record<string, number>> {
  const { points: found } = await w.expectOk('query_metric', {
    serviceId,
    metricName: 'm',
    windowMinutes: 10,
    ...body,
  });
  return Object.fromEntries(found.map((point: { at: string; value: number }) => [point.at.slice(11, 19), point.value]));
}

test('a query says what it answers: an hour of averages unless asked otherwise', async () => {
  await points({ at: '11:30:05', value: 1 }, { at: '11:30:14', value: 2 }, { at: '12:00:29.999', value: 0.1 });
  expect(await w.expectOk('query_metric', { serviceId, metricName: 'm' })).toEqual({
    serviceId,
    metricName: 'm',
    aggregation: 'avg',
    windowMinutes: 60,
    from: '2027-03-10T11:00:30.000Z',
    to: '2027-03-10T12:00:45.000Z',
    stepSeconds: 15,
    points: [
      { at: '2027-03-10T11:30:00.000Z', value: 1.5 },
      { at: '2027-03-10T12:00:15.000Z', value: 0.1 },
    ],
    summary: { min: 0.1, p50: 0.1, p95: 1.5, max: 1.5, last: 0.1 },
    nearestNames: [],
  });
});

test('buckets without data are left out, and a metric without data has none', async () => {
  await points({ at: '11:55:00', value: 1 }, { at: '11:58:00', value: 3 });
  expect(await query()).toEqual({ '11:55:00': 1, '11:58:00': 3 });
  expect(await query({ metricName: 'unheard_of' })).toEqual({});
});

test('a misspelt name is answered with the nearest, and a right one without data in the window with none', async () => {
  const bucket = { name: 'wait_seconds_bucket', kind: 'counter', at: '09:00:00', value: 1 } as const;
  await points(
    { name: 'http_requests_total', at: '09:00:00', value: 1 },
    { ...bucket, labels: { le: '1' } },
    { ...bucket, labels: { le: '+Inf' } },
  );
  const nearestTo = async (metricName: string): Promise<string[]> =>
    (await w.expectOk('query_metric', { serviceId, metricName, windowMinutes: 10 })).nearestNames;
  expect(await nearestTo('htp_request_total{code="500"}')).toEqual(['http_requests_total']);
  expect(await nearestTo('http_requests_total')).toEqual([]);
  expect(await nearestTo('wait_second{quantile="0.95"}')).toEqual(['wait_seconds_bucket']);
  expect(await nearestTo('wait_seconds{quantile="0.95"}')).toEqual([]);
});

test('a misspelt label, and a pattern that no value meets, are answered with selectors that may be meant', async () => {
  const bucket = { name: 'wait_seconds_bucket', kind: 'counter', at: '09:00:00', value: 1 } as const;
  await points(
    { name: 'http_requests_total', at: '09:00:00', value: 1, labels: { route: '/pay', method: 'GET' } },
    { ...bucket, labels: { le: '+Inf', route: '/pay' } },
  );
  const nearestTo = async (metricName: string): Promise<string[]> =>
    (await w.expectOk('query_metric', { serviceId, metricName, windowMinutes: 10 })).nearestNames;
  expect(await nearestTo('http_requests_total{rout="/pay"}')).toEqual(['http_requests_total{route="/pay"}']);
  expect(await nearestTo('http_requests_total{method=~".*",route=~"/pai|/cart"}')).toEqual([
    'http_requests_total{method=~".*",route="/pay"}',
  ]);
  expect(await nearestTo('wait_seconds{rout="/pay",quantile="0.95"}')).toEqual([
    'wait_seconds{route="/pay",quantile="0.95"}',
  ]);
  expect(await nearestTo('http_requests_total{rout="/pay"} / http_requests_total')).toEqual([
    'http_requests_total{route="/pay"} / http_requests_total',
  ]);
});

test('sum over a counter is what it grew by, with resets, for each series by itself', async () => {
  const counter = { kind: 'counter' as const };
  await points(
    { ...counter, labels: { host: 'a' }, at: '11:54:00', value: 100 },
    { ...counter, labels: { host: 'a' }, at: '11:55:00', value: 110 },
    { ...counter, labels: { host: 'a' }, at: '11:56:00', value: 4 },
    { ...counter, labels: { host: 'b' }, at: '11:56:00', value: 1_000 },
    { ...counter, labels: { host: 'b' }, at: '11:57:00', value: 1_001 },
  );
  expect(await query({ aggregation: 'sum' })).toEqual({ '11:54:00': 0, '11:55:00': 10, '11:56:00': 4, '11:57:00': 1 });
  expect(await query({ aggregation: 'max' })).toMatchObject({ '11:54:00': 100, '11:56:00': 1_000 });
  // What came just before the window is where its counting begins.
  expect(await query({ aggregation: 'sum', windowMinutes: 5 })).toEqual({ '11:56:00': 4, '11:57:00': 1 });
  await points({ ...counter, labels: { host: 'a' }, at: '11:55:29', value: 111 });
  expect(await query({ aggregation: 'sum', windowMinutes: 5 })).toEqual({ '11:56:00': 4, '11:57:00': 1 });
});

test('a stale marker ends a series and is never a value', async () => {
  await points({ at: '11:55:00.000', value: 7 }, { at: '11:55:00.500', value: 0, kind: 'stale' });
  expect(await query({ aggregation: 'last' })).toEqual({});
  expect(await query({ aggregation: 'count' })).toEqual({ '11:55:00': 1 });
  expect(await query({ aggregation: 'min' })).toEqual({ '11:55:00': 7 });
});

test('a selector picks series by their labels', async () => {
  await points(
    { labels: { status: '200', route: '/a' }, at: '11:55:00', value: 1 },
    { labels: { status: '500', route: '/a' }, at: '11:55:00', value: 10 },
    { labels: { status: '503', route: '/health' }, at: '11:55:00', value: 100 },
    { labels: { route: 'it\'s "odd" \\ \n\t{x}' }, at: '11:55:00', value: 1_000 },
  );
  const sums = {
    'm{status="200"}': 1,
    'm{status=~"5.."}': 110,
    'm{status=~"5..",route!="/health"}': 10,
    'm{status!~"5.."}': 1_001,
    'm{status=""}': 1_000,
    'm{status!=""}': 111,
    'm{status=~"5"}': undefined,
    'm{route="it\'s \\"odd\\" \\\\ \\n\\t{x}"}': 1_000,
    'm{route=~"it.*x.*"}': 1_000,
    m: 1_111,
  };
  // Rules that select by the same conditions are held to a reference.
  for (const [metricName, value] of sweep(Object.entries(sums), 2)) {
    expect((await query({ metricName, aggregation: 'sum' }))['11:55:00'], metricName).toBe(value);
  }
});

test('a selector that cannot be read is refused in a sentence', async () => {
  for (const metricName of ['', ' ', 'm{', 'm{a}', 'm{a=b}', 'm{a=~"("}', 'm{a=~"(?=x)"}', 'm{a="b"} x', '{a="b"}']) {
    const { status, body } = await w.call('query_metric', { serviceId, metricName });
    expect(status, metricName).toBe(400);
    expect(body.errors).toEqual([{ path: 'metricName', message: expect.stringMatching(/\w+ \w+ /) }]);
  }
});

test('names and labels are values, whatever they hold', async () => {
  const name = `m' OR 1=1 -- {x:String} \\ "`;
  await points({ name: 'other', at: '11:55:00', value: 1 }, { name: 'ümläut 🦊', at: '11:55:00', value: 2 });
  for (const metricName of [`{"${name.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"}`, 'm{a="\') OR 1=1 --"}']) {
    expect(await query({ metricName })).toEqual({});
  }
  expect(await query({ metricName: 'ümläut 🦊' })).toEqual({ '11:55:00': 2 });
});

test('the window is from 1 minute to a week and the aggregation one of six', async () => {
  for (const wrong of [
    { windowMinutes: 0 },
    { windowMinutes: 10_081 },
    { windowMinutes: 1.5 },
    { windowMinutes: '60' },
    { windowMinutes: null },
    { aggregation: 'median' },
    { aggregation: null },
    { step: 60 },
  ]) {
    expect((await w.call('query_metric', { serviceId, metricName: 'm', ...wrong })).status).toBe(400);
  }
  for (const windowMinutes of [1, 301, 10_080]) {
    const answer = await w.expectOk('query_metric', { serviceId, metricName: 'm', windowMinutes });
    const seconds = (Date.parse(answer.to) - Date.parse(answer.from)) / 1_000;
    expect(seconds / answer.stepSeconds).toBeLessThanOrEqual(300);
    expect(Date.parse(answer.from)).toBeLessThanOrEqual(Date.parse('2027-03-10T12:00:30Z') - windowMinutes * 60_000);
  }
});

test('the smallest and largest values come back as they were sent', async () => {
  const values = [-0.1, 5e-324, 1.7976931348623157e308, 2 ** 53 + 2, -1e-7];
  await points(
    ...values.map((value, index) => ({ name: `v${index}`, at: '11:55:00', value })),
    { name: 'huge', labels: { host: 'a' }, at: '11:55:00', value: 1.7e308 },
    { name: 'huge', labels: { host: 'b' }, at: '11:55:00', value: 1.7e308 },
  );
  for (const [index, value] of values.entries()) {
    expect(await query({ metricName: `v${index}`, aggregation: 'last' })).toEqual({ '11:55:00': value });
  }
  expect(await query({ metricName: 'huge', aggregation: 'sum' })).toEqual({ '11:55:00': Number.MAX_VALUE });
});

test('a shorter retention hides older points and names at once', async () => {
  await points(
    { name: 'old', at: '2027-03-07T12:00:00Z', value: 1 },
    { name: 'both', at: '2027-03-07T12:00:00Z', value: 1 },
    { name: 'both', at: '11:00:00', value: 2 },
  );
  const ask = { serviceId, metricName: 'both', windowMinutes: 10_080, aggregation: 'count' };
  expect((await w.expectOk('query_metric', ask)).points).toHaveLength(2);
  expect(await w.expectOk('list_metric_names', { serviceId })).toEqual({ metricNames: ['both', 'old'] });
  await w.expectOk('set_retention', { serviceId, capability: 'metrics', retentionDays: 1 });
  const answer = await w.expectOk('query_metric', ask);
  expect(answer).toMatchObject({
    from: '2027-03-09T12:00:00.000Z',
    points: [{ at: '2027-03-10T11:00:00.000Z', value: 1 }],
  });
  expect(await w.expectOk('list_metric_names', { serviceId })).toEqual({ metricNames: ['both'] });
});

test('names are those of the service alone, without labels, each once', async () => {
  await points(
    { name: 'b', labels: { x: '1' }, at: '11:00:00', value: 1 },
    { name: 'b', labels: { x: '2' }, at: '11:00:00', value: 1 },
    { name: 'a', at: '11:00:00', value: 1 },
    { name: 'B', at: '11:00:00', value: 1 },
    { name: 'only_stale', at: '11:00:00', value: 0, kind: 'stale' },
  );
  await points({ name: 'b', labels: { x: '2' }, at: '11:01:00', value: 1 });
  expect(await w.expectOk('list_metric_names', { serviceId })).toEqual({ metricNames: ['B', 'a', 'b'] });
  ({ serviceId } = await w.given.service());
  expect(await w.expectOk('list_metric_names', { serviceId })).toEqual({ metricNames: [] });
});

test("another organization's service has no metrics to show", async () => {
  const other = await w.given.organization('Other');
  for (const [action, body] of [
    ['query_metric', { metricName: 'm' }],
    ['list_metric_names', {}],
  ] as const) {
    const foreign = await w.call(action, { serviceId, ...body }, { key: other.orgKey });
    expect(foreign).toMatchObject({ status: 404, body: { code: 'not_found', errors: [{ path: 'serviceId' }] } });
  }
});

/** Two samples of a bucket: where it stood, and what it gained. */
const bucket = (labels: Readonly<Record<string, string>>, gained: number): readonly Given[] =>
  [5, 5 + gained].map((value, i) => ({
    name: 'latency_bucket',
    labels,
    at: ['11:58:10', '11:58:40'][i]!,
    value,
    kind: 'counter' as const,
  }));

test('the quantile of a histogram is computed of its buckets, of series that the selector means', async () => {
  await points(
    ...bucket({ le: '0.1', route: '/a' }, 10),
    ...bucket({ le: '0.5', route: '/a' }, 30),
    ...bucket({ le: '+Inf', route: '/a' }, 30),
    ...bucket({ le: '+Inf', route: '/b' }, 500),
    { name: 'latency', labels: { route: '/c' }, at: '11:58:10', value: 3 },
  );
  const answer = await query({ metricName: 'latency{quantile="0.5",route="/a"}', aggregation: 'max' });
  expect(Object.keys(answer)).toEqual(['11:58:40']);
  expect(answer['11:58:40']).toBeCloseTo(0.2, 12);
});

test('a heatmap has the observations of a histogram by their sizes, of either form, and says what has none', async () => {
  const size = (vmrange: string, gained: number) =>
    bucket({ vmrange }, gained).map((given) => ({ ...given, name: 'size_bucket' }));
  await points(
    ...bucket({ le: '0.1' }, 0),
    ...bucket({ le: '0.5' }, 4),
    ...bucket({ le: '1' }, 4),
    ...bucket({ le: '+Inf' }, 5),
    ...size('1...1.09051', 1),
    ...size('2...2.18102', 3),
    { name: 'queue', at: '11:58:10', value: 3 },
  );
  const heatmap = async (metricName: string) => {
    const queries = [{ serviceId, metricName, isHeatmap: true }];
    const owner = memberCaller(w.orgId, newId('user'), 'viewer');
    return (await runOperation(w, queryMetrics, owner, { windowMinutes: 20, queries })).results[0];
  };
  for (const metricName of sweep(['latency', 'latency_bucket', 'latency{quantile="0.95"}'], 2)) {
    expect(await heatmap(metricName)).toMatchObject({
      stepSeconds: 60,
      fault: null,
      series: [
        { value: '0.1...0.5', values: [4] },
        { value: '0.5...1', values: [] },
        { value: '1...Infinity', values: [1] },
      ],
    });
  }
  const { series } = await heatmap('size');
  expect(series).toHaveLength(9);
  expect([series[0].values, series[8].values]).toEqual([[1], [3]]);
  expect(await heatmap('queue')).toMatchObject({
    fault: 'queue is a gauge and has no buckets: choose a histogram, or show it as a chart',
  });
  expect(await heatmap('latency / size')).toMatchObject({
    fault: 'a heatmap is of one histogram: leave the division out',
  });
  expect(await heatmap('latenzy')).toMatchObject({ nearest: ['latency_bucket'] });
});

test('the quantile of an exponential or native histogram lies within its bucket', async () => {
  await points(...bucket({ vmrange: '1...1.09051' }, 90), ...bucket({ vmrange: '8...8.72406' }, 10));
  const p99 = await query({ metricName: 'latency{quantile="0.99"}' });
  expect(Object.values(p99)).toEqual([expect.closeTo(8 * (8.72406 / 8) ** 0.9, 6)]);
});

test('a summary answers with the quantiles that it was sent with', async () => {
  await points({ name: 'latency', labels: { quantile: '0.5' }, at: '11:58:10', value: 7 });
  expect(Object.values(await query({ metricName: 'latency{quantile="0.5"}' }))).toEqual([7]);
});

test('a quantile of a gauge is 400 and says why', async () => {
  await points({ name: 'memory', at: '11:58:10', value: 7 });
  // The series is announced with its points.
  const answer = await w.call('query_metric', { serviceId, metricName: 'memory{quantile="0.5"}' });
  expect(answer).toMatchObject({ status: 400 });
  expect(JSON.stringify(answer)).toContain('memory is a gauge and has no quantiles: leave the label quantile out');
});

test('a counter begins where its sender says: a first sample of 5 is an increase of 5, a restart up to 150 one of 150', async () => {
  await points(
    { at: '11:56:00', value: 0, kind: 'start' },
    { at: '11:56:10', value: 5, kind: 'counter' },
    { at: '11:57:10', value: 100, kind: 'counter' },
    { at: '11:57:30', value: 0, kind: 'start' },
    { at: '11:58:10', value: 150, kind: 'counter' },
  );
  expect(Object.values(await query({ aggregation: 'sum' }))).toEqual([5, 95, 150]);
  expect(Object.values(await query({ aggregation: 'count' }))).toEqual([1, 1, 1]);
});

test('a chart shows a counter as its rate per second, over no less than the time between two of its points', async () => {
  await givenMetrics(w, serviceId, {
    name: 'm',
    kind: 'counter',
    minutes: 60,
    everySeconds: 60,
    value: (step) => step * 30,
  });
  const rate = async (query: object) => {
    const queries = [{ serviceId, metricName: 'm', aggregation: 'sum', isRate: true, ...query }];
    const caller = memberCaller(w.orgId, newId('user'), 'viewer');
    const { results } = await runOperation(w, queryMetrics, caller, { windowMinutes: 60, queries });
    return { rateSeconds: results[0].rateSeconds, usual: results[0].series[0].values.at(-2) };
  };
  expect(await rate({})).toEqual({ rateSeconds: 60, usual: 0.5 });
  // What does not fit is added up in wider buckets, not left out.
  expect(await rate({ pixels: 20 })).toEqual({ rateSeconds: 300, usual: 0.5 });
  // Columns of 45 s would hold one point each, and every third none.
  expect(await rate({ pixels: 100 })).toEqual({ rateSeconds: 60, usual: 0.5 });
  await givenMetrics(w, serviceId, {
    name: 'odd',
    labels: { quantile: '0.5' },
    kind: 'counter',
    minutes: 60,
    everySeconds: 20,
    value: (step) => step * 10,
  });
  const odd = await rate({ metricName: 'odd' });
  expect(odd).toEqual({ rateSeconds: 60, usual: 0.5 });
  expect(await rate({ isRate: false })).toEqual({ rateSeconds: null, usual: 30 });
  // Nothing is counted by a quantile.
  expect((await rate({ metricName: 'odd{quantile="0.5"}' })).rateSeconds).toBeNull();
  expect(await rate({ metricName: 'm / m' })).toEqual({ rateSeconds: null, usual: 1 });
});
