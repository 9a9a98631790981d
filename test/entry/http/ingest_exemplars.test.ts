import { afterAll, beforeEach, expect, test, vi } from 'vitest';

import { listExemplars } from '#modules/metrics/operations/list_exemplars.ts';
import { EXEMPLARS_A_MINUTE } from '#modules/metrics/decide/exemplar.ts';
import { ExemplarRecorder } from '#ingest/exemplar_recorder.ts';
import { newId } from '#kernel/ids.ts';
import { silentLog } from '#kernel/log.ts';
import type { ServiceExemplar } from '#modules/metrics/store/exemplar_store.ts';
import * as wire from '#test/ingest/metric_bytes.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { fileWorld, type World } from '#test/kit/world.ts';
import { whenWritten } from '#test/kit/when.ts';

const WRITTEN_EVERY_MS = 2_000;
const SPAN = 'b7ad6b7169203331';
/** A trace of each protocol. */
const TRACES = { json: 'a', protobuf: 'b', v1: 'c', v2: 'd' } as const;
const traceOf = (protocol: keyof typeof TRACES): string => TRACES[protocol].repeat(32);

let service: Awaited<ReturnType<World['given']['service']>>;
vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
const w = await fileWorld();
afterAll(() => vi.useRealTimers());
beforeEach(async () => {
  service = await w.given.service();
});

const at = (): number => w.clock.now().epochMilliseconds;
const nanos = (ms: number): bigint => BigInt(ms) * 1_000_000n;

async function send(path: string, payload: Buffer | string, contentType: string) {
  const headers = { authorization: `Bearer ${service.ingestionKey}`, 'content-type': contentType };
  return await w.app.inject({ method: 'POST', url: `/api/ingest/${path}`, headers, payload });
}

/** Exemplars of the metric, of which there are as many. */
async function exemplars(metricName: string, count: number) {
  await whenWritten(WRITTEN_EVERY_MS);
  const as = memberCaller(w.orgId, w.owner.userId, 'viewer');
  const [from, to] = [at() - 3_600_000, at() + 60_000].map((ms) => new Date(ms).toISOString());
  const input = { serviceId: service.serviceId, metricName, from, to };
  const { exemplars: found } = await runOperation(w, listExemplars, as, input);
  expect(found).toHaveLength(count);
  return found;
}

test('exemplars of OpenTelemetry and of Prometheus keep their trace, whatever they were sent by', async () => {
  const minutesAgo = (minutes: number): number => at() - minutes * 60_000;
  const point = {
    timeUnixNano: String(nanos(at())),
    count: '2',
    sum: 3,
    bucketCounts: ['1', '1'],
    explicitBounds: [1],
    attributes: [{ key: 'route', value: { stringValue: '/pay' } }],
    exemplars: [
      {
        timeUnixNano: String(nanos(minutesAgo(10))),
        asDouble: 2.5,
        traceId: traceOf('json').toUpperCase(),
        spanId: SPAN,
      },
      { timeUnixNano: String(nanos(minutesAgo(10))), asDouble: 1, traceId: '0'.repeat(32) },
      { timeUnixNano: {}, asDouble: 'much', traceId: 7, filteredAttributes: [] },
    ],
  };
  const json = JSON.stringify({
    resourceMetrics: [
      {
        scopeMetrics: [{ metrics: [{ name: 'wait', histogram: { aggregationTemporality: 2, dataPoints: [point] } }] }],
      },
    ],
  });
  expect((await send('otlp/v1/metrics', json, 'application/json')).statusCode).toBe(200);

  const exemplar = wire.message(
    8,
    wire.fixed64(2, nanos(minutesAgo(20))),
    wire.double(3, 3.5),
    wire.bytes(4, Buffer.from(SPAN, 'hex')),
    wire.bytes(5, Buffer.from(traceOf('protobuf'), 'hex')),
  );
  const dataPoint = wire.message(
    1,
    wire.fixed64(3, nanos(at())),
    wire.fixed64(4, 2n),
    wire.double(5, 3),
    wire.bytes(6, Buffer.concat([1n, 1n].map((count) => wire.fixed64(0, count).subarray(1)))),
    wire.bytes(7, wire.double(0, 1).subarray(1)),
    exemplar,
  );
  const metric = wire.message(2, wire.bytes(1, 'wait'), wire.message(9, dataPoint, wire.number(2, 2)));
  const protobuf = wire.message(1, wire.message(2, metric));
  expect((await send('otlp/v1/metrics', protobuf, 'application/x-protobuf')).statusCode).toBe(200);

  const v1 = wire.message(
    1,
    wire.label('__name__', 'wait_bucket'),
    wire.label('le', '5'),
    wire.sample(4, at()),
    wire.message(
      3,
      wire.label('trace_id', traceOf('v1')),
      wire.label('span_id', SPAN),
      wire.double(2, 4.5),
      wire.number(3, minutesAgo(30)),
    ),
  );
  expect((await send('prometheus/write', wire.writeRequest(v1), 'application/x-protobuf')).statusCode).toBe(204);

  const symbols = ['', '__name__', 'wait_bucket', 'le', '5', 'traceID', traceOf('v2')];
  const body = wire.writeRequestV2(
    symbols,
    wire.message(
      5,
      wire.packed(1, 1, 2, 3, 4),
      wire.sample(9, at()),
      wire.message(4, wire.packed(1, 5, 6), wire.double(2, 5.5), wire.number(3, minutesAgo(40))),
    ),
  );
  const answer = await send('prometheus/write', body, wire.WRITE_V2_TYPE);
  expect(answer).toMatchObject({ statusCode: 204, headers: { 'x-prometheus-remote-write-exemplars-written': '1' } });

  const stored = await exemplars('wait{quantile="0.95"}', 4);
  expect(
    stored.map(({ value, traceId, spanId }: { value: number; traceId: string; spanId: string }) => [
      value,
      traceId,
      spanId,
    ]),
  ).toEqual([
    [2.5, traceOf('json'), SPAN],
    [3.5, traceOf('protobuf'), SPAN],
    [4.5, traceOf('v1'), SPAN],
    [5.5, traceOf('v2'), ''],
  ]);
  expect(stored[0]).toMatchObject({ labels: { route: '/pay' } });
  expect(await exemplars('wait_bucket{route="/pay",le="1"}', 1)).toMatchObject([{ traceId: traceOf('json') }]);
  expect(await exemplars('other', 0)).toEqual([]);
});

test('few exemplars of a series and minute are kept, the same one once, and none are lost to a store that is away for a while', async () => {
  const inserted: ServiceExemplar[] = [];
  let isAway = true;
  const recorder = new ExemplarRecorder({
    log: silentLog,
    store: {
      async insert(exemplars) {
        if (isAway) throw new Error('away');
        inserted.push(...exemplars);
      },
    },
  });
  const serviceId = newId('service');
  const one = (index: number, minute = 0, host = 'a') => ({
    name: 'wait',
    labels: ['host', host],
    at: minute * 60_000 + index,
    value: index,
    traceId: String(index).padStart(32, 'f'),
    spanId: '',
  });
  const sent = [...Array.from({ length: 10 }, (_, index) => one(index)), one(1, 1), one(1, 1), one(1, 0, 'b')];
  recorder.record(serviceId, sent, 0);
  await recorder.write();
  expect(inserted).toEqual([]);
  isAway = false;
  recorder.record(serviceId, sent, 60_000);
  await recorder.close();
  expect(inserted).toHaveLength(EXEMPLARS_A_MINUTE + 2);
});
