import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect, test } from 'vitest';
import { Check } from 'typebox/value';

import { buildApp } from '#entry/http/app.ts';
import type { MetricReader } from '#modules/metrics/store/metric_reader.ts';
import { CONTRACT } from '#test/contract/action_api.ts';
import { EACH_ACTION, exampleBody, buildFixture } from '#test/contract/fixture.ts';
import { faultyBodies } from '#test/contract/faulty_bodies.ts';
import { call, ERAS, post, send } from '#test/contract/mcp_call.ts';
import { fileWorld, withSettings, type Answer, world } from '#test/kit/world.ts';

// eslint-disable-next-line typescript/no-explicit-any -- tests look into tools of any shape
const tools = new Map<string, any>();
const w = await fileWorld();
const fixture = await buildFixture(w);
for (const tool of (await send(w, 'tools/list')).body.result.tools) tools.set(tool.name, tool);

const MEBIBYTE = 1024 * 1024;

test('there is one tool for each action, in the order of the contract, and all of them fit into 9,000 tokens', async () => {
  expect([...tools.keys()]).toEqual(CONTRACT.map(({ action }) => action));
  const list = JSON.stringify([...tools.values()]);
  // A token is about four characters of JSON.
  expect(list.length / 4).toBeLessThanOrEqual(9_000);
  console.log(`all tools are told in ${list.length} characters`);
  for (const era of ERAS)
    expect((await send(w, 'tools/list', {}, { era })).body.result.tools).toEqual([...tools.values()]);
});

const HINTS = {
  read: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  write: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  delete: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
};

test.each(EACH_ACTION)('%s is told as a tool that every client can read', (name, action) => {
  const { description, inputSchema, outputSchema, annotations } = tools.get(name);
  expect(description.startsWith(action.summary)).toBe(true);
  expect(annotations).toEqual(HINTS[action.effect]);
  expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
  expect(outputSchema).toMatchObject({ type: 'object', required: ['result'] });
  expect(JSON.stringify(outputSchema)).not.toMatch(/additionalProperties|unevaluated|enum|const/);
  expect(JSON.stringify({ inputSchema, outputSchema })).not.toMatch(/prefixItems|\$ref|allOf|oneOf/);
  const ids = Object.keys(inputSchema.properties).filter((name) => name.endsWith('Id') && name !== 'userId');
  for (const id of ids) expect(inputSchema.properties[id].description).toMatch(/^from (?:list|get)_/);
});

const ajv = new Ajv2020({ allowUnionTypes: true });
formats.default(ajv);

test.each(EACH_ACTION)('%s announces exactly the input that it takes', (name, action) => {
  const announced = ajv.compile(tools.get(name).inputSchema);
  const good = exampleBody(action, fixture);
  expect(announced(good)).toBe(true);
  for (const { fault, body } of faultyBodies(action.input, good)) {
    const input: unknown = JSON.parse(body);
    expect(announced(input), `${fault}: ${body}`).toBe(Check(action.input, input));
  }
});

test.each(ERAS)('bad arguments of any kind are told to the agent as a result (%s)', async (era) => {
  for (const input of [null, [], 'x', 1, true, { ['__proto__']: {} }, { name: {} }]) {
    const { body } = await call(w, 'create_team', input, { era });
    expect(body, JSON.stringify(input)).toMatchObject({
      isError: true,
      content: [
        { type: 'text', text: expect.stringMatching(/^invalid_input: .*\nCorrect the arguments .* create_team/) },
      ],
      _meta: { problem: { code: 'invalid_input', status: 400 } },
    });
    expect(body).not.toHaveProperty('structuredContent');
  }
  expect((await call(w, 'list_teams', undefined, { era })).body.isError).toBeUndefined();
});

test.each(ERAS)('refusals tell an agent what to do next (%s)', async (era) => {
  const refusal = async (name: string, input: object, key = w.orgKey): Promise<string> => {
    const { body } = await call(w, name, input, { era, key });
    expect(body.isError, name).toBe(true);
    return body.content[0].text.replaceAll(/([a-z]+)_[0-9a-hjkmnp-tv-z]{26}/g, '<$1>');
  };
  const viewer = await w.given.apiKey({ permissions: ['oncall:view'] });
  const rule = exampleBody(EACH_ACTION.find(([name]) => name === 'create_alert_rule')![1], fixture);
  const steps = [{ afterMinutes: 0, channels: ['sms'], targetUserIds: ['user_x'] }];
  expect([
    await refusal('create_team', { name: 'x' }, viewer),
    await refusal('get_service', { serviceId: 'service_x' }),
    await refusal('create_alert_rule', { ...rule, serviceId: 'x', escalationPolicyId: 'x' }),
    await refusal('create_escalation_policy', { teamId: fixture.teamId, name: 'x', steps }),
    await refusal('add_team_member', { teamId: fixture.teamId, userId: fixture.userId }),
  ]).toMatchInlineSnapshot(`
    [
      "forbidden: create_team needs the permission oncall:edit, which this key does not have
    Do not repeat the call. Ask somebody who manages the organization for oncall:edit, or use another tool.",
      "not_found: no service with this serviceId in your organization
    list_services shows the ids that there are. What is named may have been deleted.
    serviceId: "service_x" names no service by its id. There are: "checkout" <service>.",
      "not_found: no service with this serviceId in your organization
    list_services shows the ids that there are. What is named may have been deleted.
    serviceId: "x" names no service by its id. There are: "checkout" <service>.
    escalationPolicyId: "x" names no escalation policy by its id. There are: "Wake somebody" <policy>.",
      "not_found: no user with this steps[0].targetUserIds[0] in your organization
    list_teams shows the ids that there are. What is named may have been deleted.
    steps[0].targetUserIds[0]: "user_x" names no user of the organization by its id. There are: "Anna" <user>; "Bram" <user>; "Olga" <user>.",
      "conflict: this user is a member of this team already
    list_teams shows the member; update_team_member changes phone and channels.",
    ]
  `);
});

test.each(ERAS)('an unknown tool is an error of the protocol, with the names that are near (%s)', async (era) => {
  const { body } = await call(w, 'list_servces', {}, { era });
  expect(body.error).toMatchObject({ code: -32602, message: expect.stringContaining('did you mean list_services') });
});

test.each(ERAS)('an internal error is reported without its text (%s)', async (era) => {
  const failing = { listNames: () => Promise.reject(new Error('secret of the server')) } as unknown as MetricReader;
  const app = await buildApp({ ...w.context, actions: { ...w.context.actions, metrics: failing } });
  const { body } = await call({ ...w, app }, 'list_metric_names', { serviceId: fixture.serviceId }, { era });
  await app.close();
  expect(body.content[0].text).toMatch(/^internal: .*\nDo not repeat .*\nRequest id: req_\w+$/);
  expect(JSON.stringify(body)).not.toContain('secret of the server');
});

test('a request without a valid key is told where to sign in', async () => {
  const metadata =
    'resource_metadata="http://tocsin.test/.well-known/oauth-protected-resource/api/mcp", scope="mcp:read mcp:write"';
  const challengeOf = async (key: string | null): Promise<unknown> => {
    const { status, headers, body } = await send(w, 'tools/list', {}, { key });
    expect({ status, body }).toMatchObject({
      status: 401,
      body: { jsonrpc: '2.0', id: null, error: { code: -32000, data: { code: 'unauthenticated' } } },
    });
    return headers['www-authenticate'];
  };
  expect(await challengeOf(null)).toBe(`Bearer ${metadata}`);
  expect(await challengeOf('tocsin_key_x')).toBe(
    `Bearer error="invalid_token", error_description="this API key is unknown, revoked or expired", ${metadata}`,
  );
  const { json } = await w.app.inject('/.well-known/oauth-protected-resource/api/mcp');
  expect(json()).toEqual({
    resource: 'http://tocsin.test/api/mcp',
    resource_name: 'Tocsin',
    authorization_servers: ['http://tocsin.test'],
    scopes_supported: ['mcp:read', 'mcp:write'],
    bearer_methods_supported: ['header'],
  });
});

test('below a path the metadata is also where RFC 9728 has it', async () => {
  const below = await withSettings(w, { baseUrl: 'https://example.com/tocsin' });
  for (const path of ['/tocsin/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/tocsin']) {
    const { json } = await below.app.inject(`${path}/api/mcp`);
    expect(json()).toMatchObject({ resource: 'https://example.com/tocsin/api/mcp' });
  }
  const answer = await below.app.inject({ method: 'POST', url: '/tocsin/api/mcp', headers: { host: 'example.com' } });
  expect(answer.statusCode).toBe(401);
});

test('an address that keeps trying bad keys is slowed, and a good key is still taken', async () => {
  const ownWorld = await world();
  const statuses = [];
  for (let nth = 0; nth < 21; nth += 1) statuses.push((await send(ownWorld, 'tools/list', {}, { key: 'x' })).status);
  expect(statuses).toEqual([...Array.from({ length: 20 }, () => 401), 429]);
  const slowed = await send(ownWorld, 'tools/list', {}, { key: 'x' });
  expect(slowed.headers).toMatchObject({ 'retry-after': expect.stringMatching(/^\d+$/) });
  expect((await send(ownWorld, 'tools/list')).status).toBe(200);
});

test('a request under a foreign name or from a foreign page is refused before anything else', async () => {
  const statusOf = async (headers: Record<string, string>): Promise<number> =>
    (await send(w, 'tools/list', {}, { headers, key: null })).status;
  for (const host of ['evil.example', 'tocsin.test.evil.example', '192.168.1.1', 'x y']) {
    expect(await statusOf({ host }), host).toBe(403);
  }
  for (const origin of ['https://evil.example', 'null', 'http://localhost', 'x']) {
    expect(await statusOf({ host: 'tocsin.test', origin }), origin).toBe(403);
  }
  for (const host of ['tocsin.test', 'tocsin.test:8443', 'localhost:3000', '127.0.0.1', '[::1]:1']) {
    expect(await statusOf({ host }), host).toBe(401);
  }
  expect(await statusOf({ host: 'tocsin.test', origin: 'http://tocsin.test' })).toBe(401);
});

test('there are no sessions to open or end', async () => {
  for (const method of ['GET', 'DELETE', 'PUT'] as const) {
    const headers = { authorization: `Bearer ${w.orgKey}`, accept: 'text/event-stream' };
    const answer = await w.app.inject({ method, url: '/api/mcp', headers });
    expect(answer).toMatchObject({ statusCode: 405, headers: { allow: 'POST' } });
  }
  const { headers } = await initialize('2025-11-25');
  expect(headers).not.toHaveProperty('mcp-session-id');
});

test('every generation is met in its own version', async () => {
  for (const version of ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']) {
    expect((await initialize(version)).body.result).toMatchObject({
      protocolVersion: version,
      capabilities: { tools: {} },
    });
  }
  expect((await initialize('1999-01-01')).body.result.protocolVersion).toBe('2025-11-25');
  const discovered = (await send(w, 'server/discover')).body.result;
  expect(discovered).toMatchObject({
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: { listChanged: true } },
    cacheScope: 'private',
  });
  expect((await send(w, 'tools/list')).body.result).toMatchObject({ ttlMs: 0, cacheScope: 'private' });
  const unnamed = await send(w, 'tools/call', { name: 'list_teams' }, { headers: { 'mcp-name': 'list_services' } });
  expect(unnamed).toMatchObject({ status: 400, body: { error: { code: -32020 } } });
  for (const era of ERAS) {
    const unknown = await send(w, 'resources/subscribe', { uri: 'tocsin://services' }, { era });
    expect(unknown.body.error.code).toBe(-32601);
  }
});

async function initialize(protocolVersion: string): Promise<Answer> {
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  return await send(w, 'initialize', params, { era: 'legacy', headers: { 'mcp-protocol-version': '2025-11-25' } });
}

test('an invalid message is rejected with an error of the protocol', async () => {
  const rest = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/list',
    params: { x: 'x'.repeat(MEBIBYTE + 65_536) },
  });
  const refusals: [string, Record<string, string>, number, number][] = [
    ['', {}, 400, -32700],
    ['{', {}, 400, -32700],
    [rest, {}, 413, -32000],
    ['{}', { 'content-type': 'text/plain' }, 415, -32000],
    ['"x"', {}, 400, -32600],
    ['[]', {}, 400, -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/list"}', { accept: 'text/html' }, 406, -32000],
  ];
  for (const [payload, headers, status, code] of refusals) {
    const answer = await post(w, payload, { headers });
    expect(answer, payload.slice(0, 60)).toMatchObject({ status, body: { jsonrpc: '2.0', id: null, error: { code } } });
  }
  const whole = {
    name: 'create_dashboard',
    arguments: { name: 'x', layout: [{ type: 'x'.repeat(MEBIBYTE - 1_000) }] },
  };
  expect((await send(w, 'tools/call', whole)).body.result.isError).toBeUndefined();
});

test('notifications are accepted and answered by nothing', async () => {
  const initialized = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
  expect(await post(w, initialized)).toMatchObject({ status: 202, body: '' });
});

test('a batch of older clients is answered whole, even when a part of it is cancelled', async () => {
  const request = (id: number, name: string) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } });
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
  const batch = [request(1, 'list_teams'), cancelled, request(2, 'list_services'), request(3, 'nothing')];
  const { body } = await post(w, JSON.stringify(batch));
  expect(body).toMatchObject([
    { id: 1, result: { structuredContent: { result: { teams: expect.any(Array) } } } },
    { id: 2, result: { structuredContent: { result: { services: expect.any(Array) } } } },
    { id: 3, error: { code: -32602 } },
  ]);
  const twice = await post(w, JSON.stringify([request(1, 'list_teams'), request(1, 'list_services')]));
  expect(twice).toMatchObject({ status: 400, body: { error: { code: -32600 } } });
});
