import { beforeEach, expect, onTestFinished, test } from 'vitest';

import { getIngestStatus } from '#modules/services/operations/get_ingest_status.ts';
import { buildApp } from '#entry/http/app.ts';
import { newId } from '#kernel/ids.ts';
import { storesOf } from '#modules/stores.ts';
import { acceptedPoints } from '#test/ingest/accepted_data.ts';
import {
  bytes,
  double,
  label,
  message,
  number,
  packed,
  sample,
  WRITE_V2_TYPE,
  writeRequest,
  writeRequestV2,
} from '#test/ingest/metric_bytes.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { fileWorld, type World } from '#test/kit/world.ts';

const [COUNTER, GAUGE, HISTOGRAM] = [1, 2, 3];

let service: Awaited<ReturnType<World['given']['service']>>;
let app: World['app'];
const w = await fileWorld();
beforeEach(async () => {
  service = await w.given.service();
  app = w.app;
});

async function restart(): Promise<void> {
  if (app !== w.app) await app.close();
  app = await buildApp(w.context);
  const own = app;
  onTestFinished(() => own.close());
}

async function write(payload: Buffer, contentType = 'application/x-protobuf') {
  const url = '/api/ingest/prometheus/write';
  const headers = { authorization: `Bearer ${service.ingestionKey}`, 'content-type': contentType };
  return await app.inject({ method: 'POST', url, headers, payload });
}

async function writeOtlp(metric: object) {
  const url = '/api/ingest/otlp/v1/metrics';
  const headers = { authorization: `Bearer ${service.ingestionKey}`, 'content-type': 'application/json' };
  const payload = JSON.stringify({ resourceMetrics: [{ scopeMetrics: [{ metrics: [metric] }] }] });
  return await app.inject({ method: 'POST', url, headers, payload });
}

const at = (): number => w.clock.now().epochMilliseconds;
const series = (name: string, value: number) => message(1, label('__name__', name), sample(value, at()));
const metadata = (family: string, type: number, unit = '') =>
  message(3, number(1, type), bytes(2, family), bytes(5, unit));

async function arrived() {
  return (await acceptedPoints(w)).filter(({ serviceId }) => serviceId === service.serviceId);
}

async function kinds() {
  return Object.fromEntries((await arrived()).map(({ name, kind }) => [name, kind]));
}

const run = (operation: Parameters<typeof runOperation>[1], input: object) =>
  runOperation(w, operation, memberCaller(w.orgId, newId('user'), 'viewer'), input);

test('types that Prometheus has said decide, also after a restart: jobs_count is a gauge, orders a counter', async () => {
  await restart();
  expect(await write(writeRequest(metadata('jobs_count', GAUGE), metadata('orders', COUNTER)))).toMatchObject({
    statusCode: 204,
  });
  await restart();
  expect(await write(writeRequest(series('jobs_count', 3), series('orders', 5)))).toMatchObject({ statusCode: 204 });
  expect(await kinds()).toEqual({ jobs_count: 'gauge', orders: 'counter' });
});

test('types are of one service: what another says of the same name counts for itself', async () => {
  await write(writeRequest(metadata('jobs_count', GAUGE)));
  const first = service;
  service = await w.given.service();
  await write(writeRequest(series('jobs_count', 3)));
  expect(await kinds()).toEqual({ jobs_count: 'counter' });
  service = first;
  await write(writeRequest(series('jobs_count', 3)));
  expect(await kinds()).toEqual({ jobs_count: 'gauge' });
});

test('another type than before is told to the sender, counted and shown, and nothing is lost', async () => {
  await restart();
  await write(writeRequest(metadata('jobs', COUNTER), series('jobs', 1)));
  const answer = await write(writeRequest(metadata('jobs', GAUGE), series('jobs', 2), series('other', 3)));
  expect(answer).toMatchObject({
    statusCode: 200,
    body: '1 metric has another type than before: jobs (gauge, before counter)',
  });
  expect((await arrived()).length).toBe(3);
  const point = { timeUnixNano: String(BigInt(at()) * 1_000_000n), asDouble: 1 };
  const otlp = await writeOtlp({
    name: 'jobs',
    sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints: [point] },
  });
  expect(otlp.json()).toEqual({
    partialSuccess: {
      rejectedDataPoints: '0',
      errorMessage: '1 metric has another type than before: jobs (counter, before gauge)',
    },
  });
  const headers = { authorization: `Bearer a token that opens the metrics` };
  expect((await app.inject({ url: '/metrics', headers })).body).toContain(
    `tocsin_ingest_type_changes_total{service="${service.serviceId}"} 2`,
  );
  // It is written at the end, at the latest.
  await restart();
  const { typeChanges } = await run(getIngestStatus, { serviceId: service.serviceId });
  expect(typeChanges).toEqual({ count: 0, metrics: [] });
  await write(writeRequest(metadata('jobs', GAUGE)));
  await restart();
  expect((await run(getIngestStatus, { serviceId: service.serviceId })).typeChanges).toEqual({
    count: 1,
    metrics: [{ metricName: 'jobs', type: 'gauge', before: 'counter', changes: 1, lastAt: expect.any(String) }],
  });
});

test('units are remembered with the types that senders say', async () => {
  await restart();
  const timeUnixNano = String(BigInt(at()) * 1_000_000n);
  await writeOtlp({ name: 'heap', unit: 'By', gauge: { dataPoints: [{ timeUnixNano, asDouble: 7 }] } });
  const histogram = { timeUnixNano, count: '2', sum: 3, bucketCounts: ['1', '1'], explicitBounds: [1] };
  await writeOtlp({ name: 'wait', unit: 's', histogram: { aggregationTemporality: 2, dataPoints: [histogram] } });
  await write(writeRequest(metadata('disk', GAUGE, 'bytes'), series('disk', 1), series('untold', 1)));
  await restart();
  const types = await storesOf(w.context.db.session()).metricTypes.listNamed(service.serviceId, [
    'heap',
    'wait',
    'disk',
  ]);
  expect(Object.fromEntries([...types.values()].map(({ name, type, unit }) => [name, [type, unit]]))).toEqual({
    disk: [GAUGE, 'bytes'],
    heap: [GAUGE, 'By'],
    wait: [HISTOGRAM, 's'],
  });
});

test('remote write 2.0: types, units, created timestamps and native histograms are taken, and headers say how many', async () => {
  const symbols = ['', '__name__', 'jobs_count', 'orders', 'latency', 'seconds', 'zone', 'a'];
  const histogram = message(
    3,
    number(1, 4),
    double(3, 6),
    // Schema 0 as zig-zag, buckets of one span at index 1.
    number(4, 0),
    message(11, number(1, 2), number(2, 2)),
    packed(12, 6, 4),
    number(15, at()),
  );
  const answer = await write(
    writeRequestV2(
      symbols,
      message(5, packed(1, 1, 2, 6, 7), sample(3, at()), message(5, number(1, GAUGE))),
      message(5, packed(1, 1, 3), sample(5, at()), message(5, number(1, COUNTER)), number(6, at() - 60_000)),
      message(5, packed(1, 1, 4), histogram, message(5, number(1, HISTOGRAM), number(4, 5))),
    ),
    WRITE_V2_TYPE,
  );
  expect(answer).toMatchObject({
    statusCode: 204,
    headers: {
      'x-prometheus-remote-write-samples-written': '2',
      'x-prometheus-remote-write-histograms-written': '1',
      'x-prometheus-remote-write-exemplars-written': '0',
    },
  });
  const points = (await arrived()).map(({ name, labels, value, kind }) => ({
    name,
    labels: { ...labels },
    value,
    kind,
  }));
  expect(points).toEqual(
    expect.arrayContaining([
      { name: 'jobs_count', labels: { zone: 'a' }, value: 3, kind: 'gauge' },
      { name: 'orders', labels: {}, value: 0, kind: 'start' },
      { name: 'orders', labels: {}, value: 5, kind: 'counter' },
      { name: 'latency_count', labels: {}, value: 4, kind: 'counter' },
      { name: 'latency_sum', labels: {}, value: 6, kind: 'counter' },
      { name: 'latency_bucket', labels: { vmrange: '1...2' }, value: 3, kind: 'counter' },
      { name: 'latency_bucket', labels: { vmrange: '2...4' }, value: 5, kind: 'counter' },
    ]),
  );
});

test('remote write 2.0: a refused part is 400 with what was written, and the rest is taken', async () => {
  const answer = await write(
    writeRequestV2(
      ['', '__name__', 'good', 'late'],
      message(5, packed(1, 1, 2), sample(1, at())),
      message(5, packed(1, 1, 3), sample(1, at() - 90 * 86_400_000)),
    ),
    WRITE_V2_TYPE,
  );
  expect(answer).toMatchObject({ statusCode: 400, headers: { 'x-prometheus-remote-write-samples-written': '1' } });
  expect(answer.body).toContain('a time older than');
  expect((await arrived()).map(({ name }) => name)).toEqual(['good']);
});

test('remote write of an unknown version is 415 and says which are known', async () => {
  const answer = await write(writeRequestV2(['']), 'application/x-protobuf;proto=io.prometheus.write.v3.Request');
  expect(answer.statusCode).toBe(415);
  expect(answer.body).toContain('io.prometheus.write.v2.Request');
});
