import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { AddressInfo } from 'node:net';

import { expect, onTestFinished, test } from 'vitest';

import { createLogger } from '#entry/logger.ts';
import { openTracing } from '#entry/tracing.ts';
import { silentLog } from '#kernel/log.ts';
import { inSpan } from '#kernel/tracing.ts';
import { makeFolder } from '#test/faults/folder.ts';
import { staffedWorld } from '#test/kit/staffed_world.ts';

/** A receiver of OTLP: the bodies, in which names and ids of spans stand as they are. */
async function startReceiver(): Promise<{ url: string; bodies: Buffer[]; headers: object[] }> {
  const bodies: Buffer[] = [];
  const headers: object[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      bodies.push(body);
      headers.push({ path: request.url, ...request.headers });
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies, headers };
}

const TRACE = '0af7651916cd43dd8448eb211c80319c';

test('an exception is one trace from its request to the answer of the provider', async () => {
  const receiver = await startReceiver();
  // The exporter reads its own variables.
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = receiver.url;
  onTestFinished(() => void delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT']);
  const headersFile = path.join(makeFolder(), 'headers');
  writeFileSync(headersFile, 'authorization=Bearer%20of%20the%20collector,x-team=shop\n');
  const w = await staffedWorld();
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const { policyId } = await w.staff.alert(teamId, [
    { afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] },
  ]);
  const { serviceId, dsn } = await w.given.service({ name: 'shop' });
  const rule = { serviceId, name: 'New exceptions', kind: 'exception', config: {}, escalationPolicyId: policyId };
  await w.expectOk('create_alert_rule', rule);

  const tracing = await openTracing('api', silentLog, { ...process.env, OTEL_EXPORTER_OTLP_HEADERS_FILE: headersFile });
  const { username, pathname } = new URL(dsn);
  const headers = { traceparent: `00-${TRACE}-b7ad6b7169203331-01` };
  const url = `/api${pathname}/store/?sentry_key=${username}`;
  expect((await w.app.inject({ method: 'POST', url, headers, payload: { message: 'no beans left' } })).statusCode).toBe(
    200,
  );
  await w.runUntilIdle();
  await tracing.close();

  const sent = Buffer.concat(receiver.bodies);
  const wanted = ['enqueue group_exceptions', 'group_exceptions', 'open_incident', 'fire_step', 'send sms', 'accepted'];
  for (const name of wanted) expect(sent.includes(name), name).toBe(true);
  const credentials = { authorization: 'Bearer of the collector', 'x-team': 'shop' };
  expect(receiver.headers[0]).toMatchObject({ path: '/v1/traces', ...credentials });
  // Each span of the way is of this trace: the request, the queue, the group, the incident, the step and the message.
  const trace = Buffer.from(TRACE, 'hex');
  let count = 0;
  for (let at = sent.indexOf(trace); at !== -1; at = sent.indexOf(trace, at + 1)) count += 1;
  expect(count).toBeGreaterThanOrEqual(6);
  const rows = await w.context.db.sql.rows<{ traceparent: string }>(
    'select traceparent from incidents union all select traceparent from notifications',
  );
  expect(rows.map(({ traceparent }) => traceparent.split('-')[1])).toEqual([TRACE, TRACE]);
});

test('nothing is traced, and nothing kept, without an endpoint', async () => {
  for (const environment of [
    {},
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_SDK_DISABLED: 'true' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_TRACES_EXPORTER: 'none' },
  ]) {
    await openTracing('worker', silentLog, environment);
    expect(await inSpan('work', { kind: 'internal' }, async (span) => span)).toBeNull();
  }
  const wrong = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4317', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
  await expect(openTracing('worker', silentLog, wrong)).rejects.toThrow('must be http/protobuf');
});

test('a line of the log within a span names its trace', async () => {
  const receiver = await startReceiver();
  const lines: string[] = [];
  const log = createLogger({ logLevel: 'info' }, 'worker', (line) => void lines.push(line));
  const tracing = await openTracing('worker', silentLog, { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
  await inSpan('work', { kind: 'internal', parent: `00-${TRACE}-b7ad6b7169203331-00` }, async () =>
    log.info({}, 'within'),
  );
  log.info({}, 'outside');
  await tracing.close();
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ msg: 'within', trace_id: TRACE });
  expect(lines[1]).not.toContain('trace_id');
});
