import { readFileSync } from 'node:fs';
import { METHODS } from 'node:http';
import { connect } from 'node:net';
import path from 'node:path';
import { Readable } from 'node:stream';

import { afterAll, expect, test } from 'vitest';

import { OAUTH_PATHS } from '#auth/oauth/metadata.ts';
import { ACCOUNT_OPERATIONS } from '#actions/registry.ts';
import { routeOf } from '#entry/http/console/account_operations.ts';
import { ask, callsMade } from '#test/contract/ask.ts';
import { EACH_ACTION } from '#test/contract/fixture.ts';
import { sweep } from '#test/kit/properties.ts';
import { fileWorld, withSettings } from '#test/kit/world.ts';

const MEBIBYTE = 1024 * 1024;

const w = await fileWorld();
const url = await w.app.listen({ port: 0, host: '127.0.0.1' });
/** Actions that try what is decided before an action is asked: in the gate a third. */
const TRIED = sweep(EACH_ACTION, 3);
/** Returns what this action tries of what all have in common: in the gate they take turns, in the proof each tries all. */
const eachInTurn = <Case>(cases: readonly Case[], name: string, each = cases.length): Case[] =>
  sweep(cases, each, TRIED.findIndex(([other]) => other === name) % each);

afterAll(() => console.log(`${callsMade()} calls were made in other ways than the contract's`));

/** CONNECT opens a tunnel and never reaches a server that is no proxy. */
const OTHER_METHODS = METHODS.filter((method) => method !== 'POST' && method !== 'CONNECT');

test.each(TRIED)('%s is invoked with POST alone', async (name) => {
  for (const key of [w.orgKey, null]) {
    for (const method of eachInTurn(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'], name)) {
      const answer = await ask(w, name, { method, key, body: null });
      expect(answer, method).toMatchObject({ status: 405, headers: { allow: 'POST' } });
      expect(answer.body?.code ?? 'none').toBe(method === 'HEAD' ? 'none' : 'method_not_allowed');
    }
  }
  const withBody = await ask(w, name, { method: 'PUT', body: '<x/>', headers: { 'content-type': 'text/xml' } });
  expect(withBody.status).toBe(405);
});

test.each(OTHER_METHODS)('the method %s is refused by the address of an action, whatever its name', async (method) => {
  for (const name of ['list_services', 'no_such_action']) {
    const answer = await ask(w, name, { method, body: null });
    expect(answer).toMatchObject({ status: 405, headers: { allow: 'POST' } });
  }
});

test.each(TRIED)('%s takes JSON alone', async (name) => {
  const types = [
    'text/plain',
    'text/json',
    'application/xml',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/octet-stream',
    'application/json-patch+json',
    'application/jsonp',
    'json',
    '',
  ];
  for (const type of eachInTurn(types, name, 5)) {
    const answer = await ask(w, name, { body: '{}', headers: { 'content-type': type } });
    expect(answer, type).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
  }
  for (const encoding of eachInTurn(['gzip', 'br', 'x'], name)) {
    const answer = await ask(w, name, { body: '{}', headers: { 'content-encoding': encoding } });
    expect(answer, encoding).toMatchObject({ status: 415, body: { detail: 'send the body without content-encoding' } });
  }
  const right = ['application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON;charset=UTF-8'];
  for (const type of eachInTurn(right, name)) {
    const answer = await ask(w, name, { body: '[]', headers: { 'content-type': type } });
    expect(answer, type).toMatchObject({ status: 400, body: { code: 'invalid_input' } });
  }
});

const NO_OBJECTS: readonly (readonly [string, string | Buffer, string])[] = [
  ['nothing', '', 'the body is empty; send a JSON object, {} at least'],
  ['white space', ' \n ', 'the body is not valid JSON'],
  ['half an object', '{"name": "x"', 'the body is not valid JSON (line 1 column 13)'],
  ['two objects', '{}{}', 'the body is not valid JSON (line 1 column 3)'],
  ['a comma too many', '{"name": "x",}', 'the body is not valid JSON (line 1 column 14)'],
  ['single quotes', "{'name': 'x'}", 'the body is not valid JSON (line 1 column 2)'],
  ['a comment', '{} // x', 'the body is not valid JSON (line 1 column 4)'],
  ['NaN', '{"name": NaN}', 'the body is not valid JSON'],
  ['a leading zero', '{"name": 01}', 'the body is not valid JSON (line 1 column 11)'],
  ['bytes that are no UTF-8', Buffer.from('{"name": "caf\xe9"}', 'latin1'), 'the body is not valid UTF-8'],
  ['an overlong form', Buffer.from('7b22c0af227d', 'hex'), 'the body is not valid UTF-8'],
  ['UTF-16', Buffer.from('\uFEFF{}', 'utf16le'), 'the body is not valid UTF-8'],
  ['null', 'null', 'must be an object; found null'],
  ['an array', '[]', 'must be an object; found an array'],
  ['an array of an object', '[{}]', 'must be an object; found an array'],
  ['a text', '"{}"', 'must be an object; found "{}"'],
  ['a number', '5', 'must be an object; found 5'],
  ['a boolean', 'true', 'must be an object; found true'],
];

test.each(TRIED)('%s takes an object alone, and says what it found instead', async (name) => {
  for (const [what, body, message] of eachInTurn(NO_OBJECTS, name, 6)) {
    const answer = await ask(w, name, { body });
    expect(answer, what).toMatchObject({
      status: 400,
      body: { code: 'invalid_input', detail: message, errors: [{ path: '', message }] },
    });
  }
  const none = await ask(w, name, { body: null });
  expect(none).toMatchObject({ status: 400, body: { detail: 'the body is missing; send a JSON object, {} at least' } });
});

test.each(sweep(EACH_ACTION, 20))('%s takes a mebibyte and not a byte more', async (name) => {
  const fitting = `{"unheard_of":"${'x'.repeat(MEBIBYTE - 17)}"}`;
  expect(Buffer.byteLength(fitting)).toBe(MEBIBYTE);
  expect((await ask(w, name, { body: fitting })).status).toBe(400);
  const answer = await ask(w, name, { body: `${fitting} ` });
  expect(answer).toMatchObject({ status: 413, body: { code: 'payload_too_large' } });
});

test('the longest name is taken, and comes back whole', async () => {
  const name = '\u{1F514}'.repeat(250);
  const answer = await ask(w, 'create_team', { body: { name } });
  expect(answer.status).toBe(200);
  expect(answer.body.result.name).toBe(name);
});

test('checks come in the order of the contract: key, action, permission, medium and size, body, things named', async () => {
  const viewer = (await w.given.user({ role: 'viewer' })).key;
  const large = 'x'.repeat(MEBIBYTE + 1);
  const xml = { 'content-type': 'text/xml' };
  const statusOf = async (action: string, call: Parameters<typeof ask>[2]) => (await ask(w, action, call)).status;
  expect(await statusOf('no_such_action', { key: 'bad', body: large, headers: xml })).toBe(401);
  expect(await statusOf('no_such_action', { key: viewer, body: large, headers: xml })).toBe(404);
  expect(await statusOf('update_service', { key: viewer, body: large, headers: xml })).toBe(403);
  expect(await statusOf('update_service', { key: viewer, body: { serviceId: 'nowhere' } })).toBe(403);
  expect(await statusOf('update_service', { body: large, headers: xml })).toBe(415);
  expect(await statusOf('update_service', { body: large })).toBe(413);
  expect(await statusOf('update_service', { body: { serviceId: 'nowhere', name: '' } })).toBe(400);
  expect(await statusOf('update_service', { body: { serviceId: 'nowhere', name: 'x' } })).toBe(404);
  const zone = { scheduleId: 'nowhere', timezone: 'Mars/Olympus' };
  expect(await statusOf('update_schedule', { body: zone })).toBe(400);
  const override = { scheduleId: 'nowhere', userId: 'nobody', startAt: 2, endAt: 1 };
  expect(await statusOf('create_schedule_override', { body: override })).toBe(400);
  const rule = { serviceId: 'nowhere', name: 'x', kind: 'exception', config: { metricName: 'm' } };
  expect(await statusOf('create_alert_rule', { body: rule })).toBe(400);
  expect(await statusOf('query_metric', { body: { serviceId: 'nowhere', metricName: 'm{' } })).toBe(400);
});

test('an unknown action is answered with the nearest names', async () => {
  const nearest: readonly (readonly [string, string])[] = [
    ['list_service', 'list_services'],
    ['listServices', 'list_services'],
    ['LIST_SERVICES', 'list_services'],
    ['list_services/', 'list_services'],
    ['list-services', 'list_services'],
    ['create_alert_rules', 'create_alert_rule'],
    ['%6cist_servicez', 'list_services'],
  ];
  for (const [written, meant] of nearest) {
    const answer = await ask(w, written);
    expect(answer, written).toMatchObject({ status: 404, body: { code: 'unknown_action' } });
    expect(answer.body.detail).toContain(`did you mean ${meant}`);
  }
  for (const written of [
    '',
    'x',
    '__proto__',
    'constructor',
    'toString',
    '../../../healthz',
    'a/b/c',
    'x'.repeat(5_000),
  ]) {
    const answer = await ask(w, encodeURIComponent(written));
    expect(answer, written.slice(0, 50)).toMatchObject({ status: 404, body: { code: 'unknown_action' } });
    expect(answer.text.length).toBeLessThan(600);
  }
});

test('the address of an action may be written with escapes, and takes no part in the query', async () => {
  expect((await ask(w, 'list%5Fservices')).status).toBe(200);
  expect((await ask(w, 'list_services?name=x')).status).toBe(200);
});

test('an address that cannot be decoded, and one where nothing is, are problems too', async () => {
  const malformed = await w.app.inject({ method: 'POST', url: '/api/rest/actions/%zz' });
  expect(malformed.statusCode).toBe(400);
  expect(malformed.headers['content-type']).toBe('application/problem+json; charset=utf-8');
  expect(malformed.json()).toMatchObject({ code: 'invalid_input', requestId: malformed.headers['x-request-id'] });
  const nothing = await w.app.inject({ method: 'GET', url: '/api/rest/nothing?x=1' });
  expect(nothing.statusCode).toBe(404);
  expect(nothing.json()).toMatchObject({ code: 'not_found', detail: 'nothing is served at GET /api/rest/nothing' });
});

test.each([
  ['/v1/metrics', 'metrics by OTLP go to /api/ingest/otlp/v1/metrics'],
  ['/v1/traces/', 'metrics by OTLP go to /api/ingest/otlp/v1/metrics; traces are not taken'],
  ['/api/v1/write', 'remote write goes to /api/ingest/prometheus/write'],
  ['/mcp', 'MCP is served at /api/mcp'],
])('%s, where clients ask that know only the host, is answered with the right address', async (url, servedAt) => {
  const answer = await w.app.inject({ method: 'POST', url, body: 'x'.repeat(1_000) });
  expect(answer.statusCode).toBe(404);
  expect(answer.json().detail).toBe(`nothing is served at POST ${url}: ${servedAt}`);
});

test('a byte-order mark is passed over, and of equal names the last one counts', async () => {
  expect((await ask(w, 'list_services', { body: '\uFEFF{}' })).status).toBe(200);
  const answer = await ask(w, 'create_team', { body: '{"name": "first", "name": "last"}' });
  expect(answer.body.result.name).toBe('last');
  expect((await ask(w, 'create_team', { body: '{"name": "first", "name": 5}' })).status).toBe(400);
});

test('a body that is nested too deeply is rejected', async () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  for (const levels of [101, 10_000, 500_000]) {
    for (const action of ['create_dashboard', 'list_services', 'create_alert_rule']) {
      const answer = await ask(w, action, { body: `{"name": "x", "layout": ${nested(levels)}}` });
      expect(answer.status).toBe(400);
      expect(answer.body.errors).toContainEqual({ path: '', message: 'must not be nested deeper than 100 levels' });
    }
  }
  const objects = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;
  expect((await ask(w, 'create_dashboard', { body: `{"name": "x", "layout": [${objects}]}` })).status).toBe(400);
  const layout = JSON.parse(`[{"options": ${nested(97)}}]`);
  const kept = await ask(w, 'create_dashboard', { body: { name: 'x', layout } });
  expect(kept.body.result.layout).toEqual(layout);
});

test('a body of countless faults is answered with no more of them than anybody could read', async () => {
  const bodyOf = (length: number) => Object.fromEntries(Array.from({ length }, (_, index) => [`p${index}`, 1]));
  const answer = await ask(w, 'create_team', { body: bodyOf(8_000) });
  expect(answer.status).toBe(400);
  expect(answer.body.errors).toHaveLength(50);
  const unread = await ask(w, 'create_team', { body: bodyOf(50_000) });
  expect(unread).toMatchObject({ status: 400, body: { detail: expect.stringContaining('more than 10000 values') } });
  expect(answer.body.detail).toContain('and at least 40 more');
});

test('at most 16 KiB of a body without a valid key are read', async () => {
  const anyones = ACCOUNT_OPERATIONS.filter(({ scope }) => scope === 'anyone')
    .map(routeOf)
    .filter(({ method }) => method !== 'GET');
  const posts = [
    ...anyones.map(({ method, path }) => [method, `/api/console${path.replaceAll(/:\w+/g, 'x')}`] as const),
    ...['token', 'registration', 'revocation'].map((name) => ['POST', OAUTH_PATHS[name as 'token']] as const),
    ...['sms', 'sms-status/x', 'voice/x'].map((path) => ['POST', `/api/callbacks/twilio/${path}`] as const),
    ['POST', '/api/nowhere'] as const,
    ['PUT', '/api/ingest/metrics'] as const,
  ];
  expect(anyones.length).toBeGreaterThan(3);
  for (const [method, path] of posts) {
    const types = ['application/json', 'application/x-www-form-urlencoded'];
    for (const type of types) {
      // Sent in chunks, so that its length is known to nobody beforehand.
      const payload = Readable.from(Array.from({ length: 64 }, () => Buffer.from('{"a":'.repeat(200))));
      const headers = { 'content-type': type, 'transfer-encoding': 'chunked', origin: w.context.config.baseUrl };
      const answer = await w.app.inject({ method, url: path, headers, payload });
      expect([403, 404, 405, 413, 415], `${method} ${path} ${type}`).toContain(answer.statusCode);
    }
  }
});

test('a widget keeps properties with unusual names unchanged', async () => {
  const text =
    '{"type":"text","__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toString":1,"":2,"a.b":[null]}';
  const { result } = (await ask(w, 'create_dashboard', { body: `{"name":"x","layout":[${text}]}` })).body;
  const again = await ask(w, 'get_dashboard', { body: { dashboardId: result.dashboardId } });
  for (const layout of [result.layout, again.body.result.layout]) expect(JSON.stringify(layout)).toBe(`[${text}]`);
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

test.each([
  'Ünïcödé',
  '検索サービス',
  'خدمة الدفع',
  '🔔👩‍👩‍👧‍👦',
  'a\u0301 is not \u00e1',
  '\u200b zero width',
  'line\nbreak and\ttab',
  '"quotes" \\ and \'others\'',
  "'; drop table services; --",
  '<script>alert(1)</script>',
  '\uFFFF\uFDD0',
])('the name %j comes back as it was given', async (name) => {
  const { result } = (await ask(w, 'create_service', { body: { name, environment: name } })).body;
  const { body } = await ask(w, 'get_service', { body: { serviceId: result.serviceId } });
  expect([result.name, body.result.name, body.result.environment]).toEqual([name, name, name]);
});

test('HTTP/1.0 is answered, and what is no HTTP is a problem', async () => {
  const head = `Host: x\r\nAuthorization: Bearer ${w.orgKey}\r\nContent-Type: application/json\r\nContent-Length: 2`;
  const old = await raw(`POST /api/rest/actions/list_teams HTTP/1.0\r\n${head}\r\n\r\n{}`);
  expect(old).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(old).toContain('"teams":[');
  const noise = await raw('\x16\x03\x01 this is not HTTP\r\n\r\n');
  expect(noise).toMatch(/^HTTP\/1\.1 400 Bad Request\r\ncontent-type: application\/problem\+json/);
  expect(JSON.parse(noise.split('\r\n\r\n')[1]!)).toMatchObject({ status: 400, code: 'invalid_input' });
  const vast = await raw(`GET /healthz HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`);
  expect(vast).toMatch(/^HTTP\/1\.1 431 /);
});

test('a body without a length is cut off at a mebibyte, and one that announces more is refused before it is read', async () => {
  const start = `POST /api/rest/actions/create_team HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${w.orgKey}\r\nContent-Type: application/json\r\n`;
  const announced = await raw(`${start}Content-Length: 99999999\r\n\r\n{`);
  expect(announced).toMatch(/^HTTP\/1\.1 413 /);
  const size = MEBIBYTE + 1;
  const chunked = await raw(
    `${start}Transfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\n${'x'.repeat(size)}\r\n0\r\n\r\n`,
  );
  expect(chunked).toMatch(/^HTTP\/1\.1 413 /);
  const name = `${start}Transfer-Encoding: chunked\r\n\r\n8\r\n{"name":\r\n4\r\n"x"}\r\n0\r\n\r\n`;
  expect(await raw(name)).toMatch(/^HTTP\/1\.1 200 OK/);
});

/** Sends bytes over a connection, and returns what comes back until it is closed. */
async function raw(bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  // A reset ends it as well.
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  socket.on('error', () => {}).on('close', () => resolve());
  socket.write(bytes);
  let text = '';
  socket.on('data', (chunk) => (text += String(chunk)));
  await closed;
  return text;
}

test('every answer has a content-security policy, and over https tells browsers to come by https only', async () => {
  const secure = await withSettings(w, { baseUrl: 'https://tocsin.example' });
  const routes = readFileSync(path.join(import.meta.dirname, 'surface.txt'), 'utf8').matchAll(/^route (\S+) (\S+)$/gm);
  const asked: (readonly ['GET' | 'POST', string])[] = [...routes].map(([, url, methods]) => {
    return [methods!.includes('GET') ? 'GET' : 'POST', url!.replaceAll(/:\w+/g, 'x').replaceAll('*', 'x')] as const;
  });
  asked.push(
    ['GET', '/nowhere'],
    ['GET', '/%ff'],
    ['GET', '/oauth/authorize?client_id=x'],
    ['GET', '/assets/nothing.js'],
  );
  for (const [index, [method, url]] of sweep(asked, 3).entries()) {
    for (const accept of sweep(['text/html', 'application/json'], 2, index % 2)) {
      const { headers } = await secure.app.inject({ method, url, headers: { accept } });
      const policy = String(headers['content-security-policy']);
      expect(policy, `${method} ${url}`).toContain("default-src 'none'");
      expect(policy, `${method} ${url}`).toContain("frame-ancestors 'none'");
      expect(headers['strict-transport-security'], `${method} ${url}`).toBe('max-age=31536000');
      expect(headers['x-content-type-options'], `${method} ${url}`).toBe('nosniff');
    }
  }
  expect((await w.app.inject({ method: 'GET', url: '/' })).headers).not.toHaveProperty('strict-transport-security');
});
