import { connect } from 'node:http2';

import { credentials, Client, Metadata, status } from '@grpc/grpc-js';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-grpc';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { expect, onTestFinished, test } from 'vitest';

import { findFreePort } from '#infra/embedded/free_port.ts';
import { acceptedPoints } from '#test/ingest/accepted_data.ts';
import { world } from '#test/kit/world.ts';

async function given() {
  const otlpGrpcPort = await findFreePort(0);
  const w = await world({ fresh: true, settings: { otlpGrpcPort, host: '127.0.0.1' } });
  w.clock.set(new Date().toISOString());
  const service = await w.given.service();
  return { w, service, address: `127.0.0.1:${otlpGrpcPort}` };
}

const EXPORT = '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export';

/**
 * The answer to a call, or the status of its refusal. Each has a connection of its own: one over which much came without
 * a good key is closed.
 */
async function call(address: string, body: Buffer, headers: Record<string, string>, method = EXPORT) {
  const client = new Client(address, credentials.createInsecure(), { 'grpc.use_local_subchannel_pool': 1 });
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

test("OpenTelemetry's exporter over gRPC is taken as over HTTP, with and without compression", async () => {
  const { w, service, address } = await given();
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
  const { w, service, address } = await given();
  const large = Buffer.alloc(1024 * 1024);
  expect(await call(address, large, {})).toMatchObject({ code: status.UNAUTHENTICATED });
  expect(await call(address, large, { authorization: 'Bearer nonsense' })).toMatchObject({
    code: status.UNAUTHENTICATED,
    details: expect.stringContaining('unknown'),
  });
  const good = { authorization: `Bearer ${service.ingestionKey}` };
  expect(await call(address, Buffer.from('hello'), good)).toMatchObject({ code: status.INVALID_ARGUMENT });
  expect(await call(address, Buffer.alloc(17 * 1024 * 1024), good)).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
  const disabled = await w.given.service({ capabilities: ['exceptions'] });
  expect(await call(address, Buffer.alloc(0), { 'x-api-key': disabled.ingestionKey })).toMatchObject({
    code: status.PERMISSION_DENIED,
  });
  const logs = '/opentelemetry.proto.collector.logs.v1.LogsService/Export';
  expect(await call(address, Buffer.alloc(0), good, logs)).toMatchObject({
    code: status.UNIMPLEMENTED,
    details: expect.stringContaining('OTEL_LOGS_EXPORTER=none'),
  });
  expect(await call(address, Buffer.alloc(0), good)).toMatchObject({ code: status.OK, body: Buffer.alloc(0) });
});

test('a connection that goes on sending without a good key is closed', async () => {
  const { w, address } = await given();
  const session = connect(`http://${address}`);
  // The end of the connection may overtake the answer.
  const unauthenticated = String(status.UNAUTHENTICATED);
  let answered = unauthenticated;
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  session.on('error', () => {}).on('close', resolve);
  onTestFinished(() => session.destroy());
  const stream = session.request({
    ':method': 'POST',
    ':path': EXPORT,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  stream.on('error', () => {}).on('response', (headers) => (answered = String(headers['grpc-status'])));
  stream.resume();
  stream.write(Buffer.alloc(8 * 1024 * 1024));
  await closed;
  expect(answered).toBe(unauthenticated);
  expect(await w.metrics()).toContain('tocsin_limits_met_total{limit="LIMIT_GRPC_KILOBYTES_WITHOUT_KEY"} 1');
});

test('a sender over its limit is told when to come back', async () => {
  const otlpGrpcPort = await findFreePort(0);
  const w = await world({ fresh: true, settings: { otlpGrpcPort, host: '127.0.0.1', ingestPointsPerSecond: 1 } });
  const service = await w.given.service();
  const good = { authorization: `Bearer ${service.ingestionKey}` };
  const answers = [];
  for (let i = 0; i < 20; i += 1) answers.push(await call(`127.0.0.1:${otlpGrpcPort}`, Buffer.alloc(0), good));
  const refused = answers.find(({ code }) => code > 0);
  expect(refused).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
  expect(String(refused!.metadata!.get('grpc-status-details-bin')[0])).toContain('google.rpc.RetryInfo');
});
