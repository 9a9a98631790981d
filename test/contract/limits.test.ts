import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';

import { expect, onTestFinished, test } from 'vitest';

import { ReachedLimits } from '#kernel/reached_limits.ts';
import { AppError } from '#kernel/errors.ts';
import { silentLog } from '#kernel/log.ts';
import { testClock } from '#test/kit/clock.ts';
import { givenPerson, signedIn } from '#test/kit/programs/browser.ts';
import { world, type World } from '#test/kit/world.ts';
import { opened } from '#test/contract/connection.ts';
import { post } from '#test/contract/mcp_call.ts';

const LIMITS = {
  mcpBatchMax: 2,
  badKeysPerMinute: 2,
  signInsOfAccountMax: 1,
  appRegistrationsPerMinute: 1,
  deploysPerDay: 1,
  pipelinedMax: 3,
};

test('a batch beyond the limit that is set is refused by its name, and its sender counted by it', async () => {
  const w = await world({ newApp: true, settings: LIMITS });
  const send = (messages: number) =>
    post(w, JSON.stringify(Array.from({ length: messages }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }))));
  expect((await send(2)).status).toBe(200);
  const refused = await send(3);
  expect(refused.status).toBe(400);
  expect(refused.body.error).toMatchObject({
    message: 'a batch holds at most 2 messages; send the others after it (limit: LIMIT_MCP_BATCH)',
    data: { limit: 'LIMIT_MCP_BATCH' },
  });
  expect(await w.metrics()).toContain('tocsin_limits_met_total{limit="LIMIT_MCP_BATCH"} 1');
});

test('a head that never ends is told which limit it has met', async () => {
  const w = await world({ newApp: true, settings: { headSeconds: 1 } });
  await w.app.listen({ port: 0, host: '127.0.0.1' });
  const accepted = once(w.app.server, 'connection');
  const socket = connect((w.app.server.address() as AddressInfo).port, '127.0.0.1').setEncoding('utf8');
  onTestFinished(() => void socket.destroy());
  let heard = '';
  socket.on('data', (text: string) => (heard += text)).write('GET / HTTP/1.1\r\nHost: x\r\n');
  // What Node does after this time is not waited for.
  expect(w.app.server.headersTimeout).toBe(1_000);
  const [connection] = await accepted;
  const late = Object.assign(new Error('the head came too late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
  w.app.server.emit('clientError', late, connection);
  await once(socket, 'close');
  expect(heard).toMatch(/^HTTP\/1\.1 408 /);
  expect(heard).toContain('"limit":"LIMIT_HEAD_SECONDS"');
  expect(await w.metrics()).toContain('tocsin_limits_met_total{limit="LIMIT_HEAD_SECONDS"} 1');
});

test('the log names once a minute who met a limit, and a refusal counts once wherever it passes', () => {
  const clock = testClock();
  const lines: object[] = [];
  const limits = new ReachedLimits({ ...silentLog, warn: (fields: object) => void lines.push(fields) }, clock);
  const refusal = new AppError('rate_limited', 'too much', { limit: 'callsPerMinute' });
  limits.recordRefusal(refusal, 'key_1');
  limits.recordRefusal(refusal, 'key_1');
  limits.recordRefusal(new AppError('rate_limited', 'for another reason'), 'key_1');
  expect(limits.counts.get('callsPerMinute')).toBe(1);
  limits.record('callsPerMinute', 'key_1');
  limits.record('callsPerMinute', 'key_2');
  clock.advance({ seconds: 61 });
  limits.record('callsPerMinute', 'key_2');
  expect(lines).toEqual([
    { limit: 'CALLS_PER_MINUTE', who: { key_1: 1 } },
    { limit: 'CALLS_PER_MINUTE', who: { key_1: 1, key_2: 2 } },
  ]);
});

test('attempts without a valid key are limited as configured, and the refusal names the setting', async () => {
  const w = await world({ newApp: true, settings: LIMITS });
  const post = async (url: string, payload: object, headers = {}) => {
    const answer = await w.app.inject({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json', origin: w.context.config.baseUrl, ...headers },
      payload,
    });
    return [answer.statusCode, answer.json().limit];
  };
  const badKey = () => post('/api/rest/actions/list_teams', {}, { authorization: `Bearer key_${'0'.repeat(40)}` });
  expect([await badKey(), await badKey(), await badKey()]).toEqual([
    [401, undefined],
    [401, undefined],
    [429, 'LIMIT_BAD_KEYS_PER_MINUTE'],
  ]);
  const signIn = () => post('/api/console/session', { email: 'nobody@example.com', password: 'quiet harbour lantern' });
  expect([await signIn(), await signIn()]).toEqual([
    [401, undefined],
    [429, 'LIMIT_SIGN_INS_OF_ACCOUNT'],
  ]);
  const register = () => post('/oauth/register', { redirect_uris: ['https://app.example/back'] });
  await register();
  expect(await register()).toEqual([429, 'LIMIT_APP_REGISTRATIONS_PER_MINUTE']);
  const metrics = await w.metrics();
  for (const name of ['BAD_KEYS_PER_MINUTE', 'SIGN_INS_OF_ACCOUNT', 'APP_REGISTRATIONS_PER_MINUTE']) {
    expect(metrics).toContain(`tocsin_limits_met_total{limit="LIMIT_${name}"} 1`);
  }
});

test('what a service and its pipeline may send is as it is set', async () => {
  const w = await world({ newApp: true, settings: LIMITS });
  const { ingestionKey } = await w.given.service();
  const tell = async (release: string) => {
    const headers = { authorization: `Bearer ${ingestionKey}`, 'content-type': 'application/json' };
    const answer = await w.app.inject({ method: 'POST', url: '/api/ingest/deploys', headers, payload: { release } });
    return [answer.statusCode, answer.json().limit];
  };
  expect([await tell('1'), await tell('2')]).toEqual([
    [201, undefined],
    [429, 'LIMIT_DEPLOYS_PER_DAY'],
  ]);
  expect(await w.metrics()).toContain('tocsin_limits_met_total{limit="LIMIT_DEPLOYS_PER_DAY"} 1');
});

test('a connection that asks for more than it waits for is closed, and others are not', async () => {
  const w = await world({ newApp: true, settings: LIMITS });
  await w.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = w.app.server.address() as AddressInfo;
  const asking = async (requests: number) => {
    const socket = await opened(port);
    socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(requests));
    return socket;
  };
  const patient = await asking(3);
  await patient.hears(/(?:HTTP\/1\.1 200[^]*){3}/);
  const greedy = await asking(50);
  await greedy.gone;
  expect(greedy.heard.split('HTTP/1.1 200').length - 1).toBeLessThan(4);
  // Only the errors of its own requests are without a stack.
  expect(new Error('of somebody else').stack).toContain('limits.test.ts');
  patient.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(3));
  await patient.hears(/(?:HTTP\/1\.1 200[^]*){6}/);
  expect(await w.metrics()).toContain('tocsin_limits_met_total{limit="LIMIT_PIPELINED_REQUESTS"} 1');
});

const REFUSED_MAX = 5;

test('refused changes count among the calls of a key and of a person, so that they cannot fill the audit log', async () => {
  const w = await world({ newApp: true, settings: { callsPerMinute: REFUSED_MAX } });
  const { key } = await w.given.user({ role: 'viewer' });
  const { email } = await givenPerson(w, { role: 'viewer' });
  const person = await signedIn(w, email);
  const tries: (() => Promise<{ readonly status: number }>)[] = [
    () => w.call('delete_service', {}, { key }),
    () => person.invoke(w.orgId, 'delete_service'),
  ];
  let recorded = 0;
  for (const attempt of tries) {
    const statuses: number[] = [];
    for (let count = 0; count < 2 * REFUSED_MAX; count += 1) statuses.push((await attempt()).status);
    expect(new Set(statuses.slice(0, REFUSED_MAX))).toEqual(new Set([403]));
    expect(statuses).toContain(429);
    recorded += statuses.filter((status) => status === 403).length;
    expect(await refusals(w)).toEqual(Array.from({ length: recorded }, () => 'delete_service'));
  }
});

test('a change that is refused stands in the audit log, whichever way it came', async () => {
  const w = await world();
  const viewer = await w.given.apiKey({ permissions: ['services:view'] });
  const send = async (method: 'POST' | 'PUT' | 'DELETE', url: string) => {
    const headers = { authorization: `Bearer ${viewer}`, 'content-type': 'application/json' };
    return (await w.app.inject({ method, url, headers, ...(method !== 'DELETE' && { payload: {} }) })).statusCode;
  };
  const organization = `/api/0/organizations/${w.orgId}`;
  expect([
    await send('POST', `${organization}/releases/`),
    await send('PUT', `${organization}/releases/1/`),
    await send('DELETE', `${organization}/releases/1/`),
    await send('POST', `${organization}/releases/1/deploys/`),
    await send('POST', `${organization}/artifactbundle/assemble/`),
    await send('POST', '/api/config/plan'),
    await send('POST', '/api/config/apply'),
  ]).toEqual(Array.from({ length: 7 }, () => 403));
  const owner = await signedIn(w, (await givenPerson(w, { role: 'owner' })).email);
  await owner.invoke(w.orgId, 'stop_agents', { stopped: true });
  for (const name of ['list_services', 'delete_service']) {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } };
    expect((await post(w, JSON.stringify(call))).status).toBe(403);
  }
  expect(await refusals(w)).toEqual([
    'create_release',
    'update_release',
    'delete_release',
    'record_deploy',
    'upload_source_maps',
    'apply_configuration',
    'delete_service',
  ]);
});

async function refusals({ context, orgId }: World): Promise<string[]> {
  const rows = await context.db.sql.rows<{ action: string }>(
    `select action from audit_log where org_id = $1 and result = 'forbidden' order by id`,
    [orgId],
  );
  return rows.map(({ action }) => action);
}
