import { readFileSync } from 'node:fs';

import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';

import { buildApp } from '#entry/http/app.ts';
import { WIRE, WireReader } from '#ingest/protocols/body/protobuf_wire.ts';
import { AppError } from '#kernel/errors.ts';
import { acceptedPoints } from '#test/ingest/accepted_data.ts';
import { fileWorld, type World } from '#test/kit/world.ts';

const OTLP = '/api/ingest/otlp/v1/metrics';
const PROMETHEUS = '/api/ingest/prometheus/write';

const recorded = (name: string) =>
  readFileSync(new URL(`../../ingest/golden/recordings/metrics/${name}`, import.meta.url));

let service: Awaited<ReturnType<World['given']['service']>>;
const w = await fileWorld();
// A little after the recordings were made.
w.clock.set('2026-11-21T11:00:00Z');
beforeEach(async () => {
  service = await w.given.service();
});

async function send(url: string, payload: Buffer, headers: Record<string, string>) {
  const authorization = `Bearer ${service.ingestionKey}`;
  return await w.app.inject({ method: 'POST', url, payload, headers: { authorization, ...headers } });
}

async function arrived() {
  return (await acceptedPoints(w)).filter(({ serviceId }) => serviceId === service.serviceId);
}

/** An OTLP request in JSON with one gauge. */
function otlpGauge(value: number | string): Buffer {
  const timeUnixNano = String(BigInt(w.clock.now().epochMilliseconds) * 1_000_000n);
  const metrics = [{ name: 'cpu', gauge: { dataPoints: [{ timeUnixNano, asDouble: value }] } }];
  return Buffer.from(JSON.stringify({ resourceMetrics: [{ scopeMetrics: [{ metrics }] }] }));
}

describe('OTLP', () => {
  test.each([
    ['JSON', 'otlp-json-1.json', { 'content-type': 'application/json' }],
    ['protobuf', 'otlp-proto-1.bin', { 'content-type': 'application/x-protobuf' }],
    ['gzip', 'otlp-gz-1.bin', { 'content-type': 'application/x-protobuf', 'content-encoding': 'gzip' }],
  ])('of a real exporter in %s is taken and answered in the same form', async (_what, file, headers) => {
    const answer = await send(OTLP, recorded(file), headers);
    expect(answer).toMatchObject({ statusCode: 200, headers: { 'content-type': headers['content-type'] } });
    expect(answer.body).toBe(headers['content-type'] === 'application/json' ? '{}' : '');
    expect((await arrived()).length).toBeGreaterThan(5);
  });

  test('is told in the same form what was refused', async () => {
    const answer = await send(OTLP, otlpGauge('Infinity'), { 'content-type': 'application/json' });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({
      partialSuccess: { rejectedDataPoints: '1', errorMessage: expect.stringContaining('infinite') },
    });
    expect(await arrived()).toEqual([]);
  });

  test('an unreadable request is refused as a whole', async () => {
    const headers = { 'content-type': 'application/x-protobuf' };
    expect(await send(OTLP, Buffer.from('hello'), headers)).toMatchObject({ statusCode: 400 });
    expect(await send(OTLP, otlpGauge(1), { 'content-type': 'text/plain' })).toMatchObject({ statusCode: 415 });
  });
});

describe('OTLP that is refused', () => {
  /** Reads a google.rpc.Status. */
  function statusOf({ headers, rawPayload }: { headers: object; rawPayload: Buffer }): unknown {
    expect(headers).toMatchObject({ 'content-type': 'application/x-protobuf' });
    const reader = new WireReader(rawPayload, 'Status');
    const end = rawPayload.length;
    expect(reader.nextField(end) && reader.is(1, WIRE.varint)).toBe(true);
    const code = reader.varint(end);
    expect(reader.nextField(end) && reader.is(2, WIRE.bytes)).toBe(true);
    expect(reader.message(end), 'nothing follows').toBe(end);
    return { code, message: rawPayload.toString('utf8', reader.pos, end) };
  }

  const protobuf = { 'content-type': 'application/x-protobuf' };
  const json = { 'content-type': 'application/json; charset=utf-8' };

  test('because it cannot be read says so in its own encoding', async () => {
    const answer = await send(OTLP, Buffer.from('hello'), protobuf);
    expect(answer).toMatchObject({ statusCode: 400, headers: { 'x-request-id': expect.any(String) } });
    expect(statusOf(answer)).toEqual({ code: 3, message: expect.stringMatching(/ExportMetricsServiceRequest/) });

    const inJson = await send(OTLP, Buffer.from('hello'), json);
    expect(inJson).toMatchObject({ statusCode: 400, headers: { 'content-type': 'application/json' } });
    expect(inJson.json()).toEqual({ code: 3, message: 'the body is not JSON' });
  });

  test('because of its key, its capability or its size says so in its own encoding', async () => {
    const unknown = await send(OTLP, Buffer.alloc(0), { ...protobuf, authorization: 'Bearer nonsense' });
    expect(unknown).toMatchObject({ statusCode: 401, headers: { 'www-authenticate': expect.any(String) } });
    expect(statusOf(unknown)).toMatchObject({ code: 16 });

    const tooLarge = await send(OTLP, Buffer.alloc(17 * 1024 * 1024), protobuf);
    expect(tooLarge).toMatchObject({ statusCode: 413 });
    expect(statusOf(tooLarge)).toMatchObject({ code: 3 });

    service = await w.given.service({ capabilities: ['exceptions'] });
    const disabled = await send(OTLP, Buffer.alloc(0), protobuf);
    expect(disabled).toMatchObject({ statusCode: 403 });
    expect(statusOf(disabled)).toEqual({ code: 7, message: expect.stringMatching(/metrics is not enabled/) });
  });

  test.each([
    ['rate_limited', 429, 8],
    ['unavailable', 503, 14],
  ] as const)('for now (%s) is told to come back before exporters give up', async (code, statusCode, rpcCode) => {
    const fault = new AppError(code, 'not now', { retryAfterSeconds: 7 });
    const queue = { ...w.context.queue, addDurable: () => Promise.reject(fault) };
    const app = await buildApp({ ...w.context, queue });
    onTestFinished(() => app.close());
    const headers = { ...protobuf, authorization: `Bearer ${service.ingestionKey}` };
    const payload = recorded('otlp-proto-1.bin');
    const answer = await app.inject({ method: 'POST', url: OTLP, payload, headers });
    expect(answer).toMatchObject({ statusCode, headers: { 'retry-after': '5' } });
    expect(statusOf(answer)).toEqual({ code: rpcCode, message: 'not now' });
  });

  test.each([
    ['logs', 'v1/logs'],
    ['traces', 'v1/traces/'],
    ['profiles', 'v1development/profiles'],
  ])('because %s are not taken says what to do, and that no later attempt will help', async (signal, path) => {
    const answer = await send(`/api/ingest/otlp/${path}`, Buffer.alloc(9), protobuf);
    expect(answer.statusCode, 'no exporter sends again after it (OTLP: failures that are not retryable)').toBe(404);
    expect(statusOf(answer)).toEqual({ code: 5, message: expect.stringContaining(`pipeline for ${signal}`) });
    const nobody = await send(`/api/ingest/otlp/${path}`, Buffer.alloc(9), { ...protobuf, authorization: 'Bearer x' });
    expect(nobody.statusCode).toBe(401);
  });

  test('in no encoding of OTLP is told of it as a problem', async () => {
    const answer = await send(OTLP, otlpGauge(1), { 'content-type': 'text/plain' });
    expect(answer).toMatchObject({
      statusCode: 415,
      headers: { 'content-type': expect.stringMatching(/^application\/problem\+json/) },
    });
  });
});

describe('Prometheus remote write', () => {
  const headers = { 'content-type': 'application/x-protobuf', 'content-encoding': 'snappy' };

  test('a request of a real Prometheus is accepted with 204', async () => {
    expect(await send(PROMETHEUS, recorded('prom-1.snappy'), headers)).toMatchObject({ statusCode: 204, body: '' });
    expect((await arrived()).length).toBeGreaterThan(100);
  });

  test('a request of metadata alone is accepted, and there is nothing to store', async () => {
    expect(await send(PROMETHEUS, recorded('prom-3.snappy'), headers)).toMatchObject({ statusCode: 204 });
    expect(await arrived()).toEqual([]);
  });

  test('is sent away when it is of a version that is not known', async () => {
    const unknown = { ...headers, 'content-type': 'application/x-protobuf;proto=io.prometheus.write.v3.Request' };
    expect(await send(PROMETHEUS, recorded('prom-1.snappy'), unknown)).toMatchObject({ statusCode: 415 });
  });

  test('is refused when no sample of it can be taken, in words that its log shows', async () => {
    w.clock.advance({ hours: 24 * 31 });
    const answer = await send(PROMETHEUS, recorded('prom-1.snappy'), headers);
    expect(answer.statusCode).toBe(400);
    expect(answer.json().detail).toMatch(/older than the 30 days/);
  });

  test('an unreadable request is refused', async () => {
    expect(await send(PROMETHEUS, Buffer.from('hello'), headers)).toMatchObject({ statusCode: 400 });
  });
});
