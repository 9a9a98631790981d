import { once } from 'node:events';
import { connect, type IncomingHttpHeaders } from 'node:http2';

import { credentials, Client, Metadata, status } from '@grpc/grpc-js';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-grpc';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { expect, onTestFinished, test } from 'vitest';

import { findFreePort } from '#infra/embedded/free_port.ts';
import { acceptedPoints } from '#test/ingest/accepted_data.ts';
import { fileWorld, world } from '#test/kit/world.ts';

const otlpGrpcPort = await findFreePort(0);
const address = `127.0.0.1:${otlpGrpcPort}`;
const w = await fileWorld({ settings: { otlpGrpcPort, host: '127.0.0.1' } });
w.clock.set(new Date().toISOString());
const service = await w.given.service();

const EXPORT = '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export';

/**
 * The answer to a call, or the status of its refusal. Each has a connection of its own: one over which much came without
 * a good key is closed.
 */
async function call(body: Buffer, headers: Record<string, string>, method = EXPORT, at = address) {
  const client = new Client(at, credentials.createInsecure(), { 'grpc.use_local_subchannel_pool': 1 });
  onTestFinished(() => client.close());
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  const asIs = (bytes: Buffer) => bytes;
  return await new Promise<{ code: number; details?: string; body?: Buffer; metadata?: Metadata }>((resolve) => {
    client.makeUnaryRequest(method, asIs, asIs, body, metadata, (error, answer) =>
      resolve(error === null ? { code: status.OK, body: answer! } : error),
    );
  });
}

/** Opens a call whose body is sent piece by piece. */
function openCall(headers: Record<string, string> = {}) {
  const session = connect(`http://${address}`);
  session.on('error', () => {});
  onTestFinished(() => session.destroy());
  const fixed = { ':method': 'POST', ':path': EXPORT, 'content-type': 'application/grpc', te: 'trailers' };
  const stream = session.request({ ...fixed, ...headers });
  stream.on('error', () => {}).resume();
  return { session, stream };
}

test("OpenTelemetry's exporter over gRPC is taken as over HTTP, with and without compression", async () => {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${service.ingestionKey}`);
  for (const compression of ['none', 'gzip'] as const) {
    const exporter = new OTLPMetricExporter({ url: `http://${address}`, metadata, compression: compression as never });
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
    const provider = new MeterProvider({ readers: [reader] });
    const meter = provider.getMeter('shop');
    meter.createCounter(`orders_${compression}`).add(3, { country: 'NL' });
    meter.createHistogram(`wait_${compression}`, { unit: 's' }).record(0.3);
    await provider.shutdown();
  }
  const points = (await acceptedPoints(w)).filter(({ serviceId }) => serviceId === service.serviceId);
  const named = (name: string) => points.filter((point) => point.name === name && point.kind !== 'start');
  for (const compression of ['none', 'gzip']) {
    expect(named(`orders_${compression}`)).toMatchObject([{ labels: { country: 'NL' }, value: 3, kind: 'counter' }]);
    expect(named(`wait_${compression}_count`)).toMatchObject([{ value: 1, kind: 'counter' }]);
  }
});

test('a call without a good key is refused before its body is read, others as OTLP has it', async () => {
  expect(await call(Buffer.from('hello'), {})).toMatchObject({ code: status.UNAUTHENTICATED });
  expect(await call(Buffer.from('hello'), { authorization: 'Bearer nonsense' })).toMatchObject({
    code: status.UNAUTHENTICATED,
    details: expect.stringContaining('unknown'),
  });
  const good = { authorization: `Bearer ${service.ingestionKey}` };
  expect(await call(Buffer.from('hello'), good)).toMatchObject({ code: status.INVALID_ARGUMENT });
  const { stream } = openCall(good);
  const answered = once(stream, 'response') as Promise<[IncomingHttpHeaders]>;
  stream.write(Buffer.from([0, 0x01, 0x10, 0, 0]));
  const [{ 'grpc-status': tooLarge }] = await answered;
  expect(tooLarge, 'a message that is announced with 17 MiB').toBe(String(status.RESOURCE_EXHAUSTED));
  const disabled = await w.given.service({ capabilities: ['exceptions'] });
  expect(await call(Buffer.alloc(0), { 'x-api-key': disabled.ingestionKey })).toMatchObject({
    code: status.PERMISSION_DENIED,
  });
  const logs = '/opentelemetry.proto.collector.logs.v1.LogsService/Export';
  expect(await call(Buffer.alloc(0), good, logs)).toMatchObject({
    code: status.UNIMPLEMENTED,
    details: expect.stringContaining('OTEL_LOGS_EXPORTER=none'),
  });
  expect(await call(Buffer.alloc(0), good)).toMatchObject({ code: status.OK, body: Buffer.alloc(0) });
});

test('a connection that goes on sending without a good key is closed', async () => {
  const { session, stream } = openCall();
  // The end of the connection may overtake the answer.
  const unauthenticated = String(status.UNAUTHENTICATED);
  let answered = unauthenticated;
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  session.on('close', resolve);
  stream.on('response', (headers) => (answered = String(headers['grpc-status'])));
  stream.write(Buffer.alloc(8 * 1024 * 1024));
  await closed;
  expect(answered).toBe(unauthenticated);
  expect(await w.metrics()).toContain('tocsin_limits_met_total{limit="LIMIT_GRPC_KILOBYTES_WITHOUT_KEY"} 1');
});

test('a sender over its limit is told when to come back', async () => {
  const port = await findFreePort(0);
  const limited = await world({
    fresh: true,
    settings: { otlpGrpcPort: port, host: '127.0.0.1', ingestPointsPerSecond: 1 },
  });
  const good = { authorization: `Bearer ${(await limited.given.service()).ingestionKey}` };
  const answers = [];
  for (let i = 0; i < 20; i += 1) answers.push(await call(Buffer.alloc(0), good, EXPORT, `127.0.0.1:${port}`));
  const refused = answers.find(({ code }) => code > 0);
  expect(refused).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
  expect(String(refused!.metadata!.get('grpc-status-details-bin')[0])).toContain('google.rpc.RetryInfo');
});
