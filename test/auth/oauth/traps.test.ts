import { request } from 'node:http';
import { text } from 'node:stream/consumers';

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { recordAdapterOf } from '#auth/oauth/record_adapter.ts';
import { AppError } from '#kernel/errors.ts';
import { storesOf } from '#storage/postgres/stores.ts';
import { send } from '#test/contract/mcp_call.ts';
import { appOf, codeFor, connected, rawApp, REDIRECT, register } from '#test/auth/oauth/raw_app.ts';
import { listeningWorld, listeningWorldOfTest, type ListeningWorld } from '#test/auth/oauth/listening_world.ts';
import { pruneConnections } from '#workers/prune_connections.ts';

let s: ListeningWorld;
beforeAll(async () => {
  s = await listeningWorld({ keepOpen: true });
});
afterAll(() => s.close());
// Whoever registers that many apps as these tests do has to wait.
beforeEach(() => s.clock.advance({ seconds: 61 }));

const statusWith = async (token: string) => (await send(s, 'tools/list', {}, { key: token })).status;

test('of those who redeem one code at the same time exactly one gets tokens, and they work', async () => {
  const anna = await s.person();
  for (let round = 0; round < 5; round += 1) {
    const app = await rawApp(s);
    const code = await codeFor(app, anna);
    const answers = await Promise.all(Array.from({ length: 12 }, () => app.redeem(code)));
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    const lost = answers.filter(({ status }) => status !== 200).map(({ body }) => body.error);
    expect(new Set(lost)).toEqual(new Set(['invalid_grant']));
    expect(await statusWith(won[0]!.body.access_token)).toBe(200);
    expect((await app.refresh(won[0]!.body.refresh_token)).status).toBe(200);
  }
});

test('a code that comes again is refused, and later than ten seconds it ends the connection that it led to', async () => {
  const app = await rawApp(s);
  const code = await codeFor(app, await s.person());
  const { body } = await app.redeem(code);
  const refused = { status: 400, body: { error: 'invalid_grant' } };
  expect(await app.redeem(code)).toMatchObject(refused);
  expect(await statusWith(body.access_token)).toBe(200);
  s.clock.advance({ seconds: 11 });
  expect(await app.redeem(code)).toMatchObject(refused);
  expect(await statusWith(body.access_token)).toBe(401);
  expect(await app.refresh(body.refresh_token)).toMatchObject(refused);
});

test('a refresh may be repeated for ten seconds; later the same token ends the connection', async () => {
  const { app, tokens, connectionId } = await connected(s, await s.person());
  const atOnce = await Promise.all(Array.from({ length: 4 }, () => app.refresh(tokens.refresh_token)));
  expect(atOnce.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  // One chain: all of them got the same next token, which follows from what only we know.
  const [next] = new Set(atOnce.map(({ body }) => body.refresh_token));
  expect(new Set(atOnce.map(({ body }) => body.refresh_token)).size).toBe(1);
  const live = await s.house.db.sql.row<{ n: number }>(
    `select count(*)::int as n from oauth_records
     where kind = 'RefreshToken' and connection_id = $1 and consumed_at is null`,
    [connectionId],
  );
  expect(live).toEqual({ n: 1 });
  s.clock.advance({ seconds: 10 });
  const repeated = await app.refresh(tokens.refresh_token);
  expect(repeated.status).toBe(200);
  expect(repeated.body.refresh_token).toBe(next);
  expect(await statusWith(repeated.body.access_token)).toBe(200);
  s.clock.advance({ seconds: 1 });
  expect(await app.refresh(tokens.refresh_token)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  for (const { body } of [...atOnce, repeated]) {
    expect(await statusWith(body.access_token)).toBe(401);
    expect((await app.refresh(body.refresh_token)).status).toBe(400);
  }
  const ended = await s.house.db.sql.row(
    `select actor, via, after from audit_log where action = 'disconnect_app' and target = $1`,
    [connectionId],
  );
  expect(ended).toEqual({
    actor: { kind: 'system' },
    via: 'system',
    after: { why: 'a code or refresh token came again after it was used' },
  });
});

test('no header of a request gets into metadata, redirects or challenges', async () => {
  const app = await rawApp(s);
  const asked = async (path: string): Promise<string> => {
    const url = new URL(path, s.baseUrl);
    const answer = await new Promise<string>((resolve, reject) => {
      request(
        url,
        {
          headers: {
            host: 'evil.example',
            'x-forwarded-host': 'evil.example',
            'x-forwarded-proto': 'https',
            forwarded: 'host=evil.example',
          },
        },
        (response) => {
          text(response).then((body) => resolve(JSON.stringify(response.headers) + body), reject);
        },
      )
        .on('error', reject)
        .end();
    });
    expect(answer).not.toContain('evil.example');
    return answer;
  };
  const metadata = await asked('/.well-known/oauth-authorization-server');
  expect(metadata).toContain(`${s.baseUrl}/oauth/token`);
  await asked('/.well-known/openid-configuration');
  await asked('/.well-known/oauth-protected-resource/api/mcp');
  expect(await asked(app.authorizationUrl().href)).toContain(`${s.baseUrl}/connect/`);
  await asked(app.authorizationUrl({ redirect_uri: 'https://other.example' }).href);
});

test('both forms of the metadata say what is there', async () => {
  const get = async (path: string) => (await fetch(s.baseUrl + path)).json() as Promise<Record<string, unknown>>;
  const metadata = await get('/.well-known/oauth-authorization-server');
  expect(metadata).toMatchObject({
    issuer: s.baseUrl,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    scopes_supported: ['mcp:read', 'mcp:write', 'offline_access'],
  });
  expect(await get('/.well-known/openid-configuration')).toMatchObject(metadata);
  expect(await get('/oauth/jwks')).toMatchObject({ keys: [{ kty: 'OKP' }] });
  expect(await get('/.well-known/oauth-protected-resource/api/mcp')).toMatchObject({
    resource: s.endpoint.href,
    authorization_servers: [s.baseUrl],
  });
});

test.each([
  'http://example.com/callback',
  'http://127.0.0.1.example.com/callback',
  'http://192.168.0.7/callback',
  'http://[::2]/callback',
  'https://user@example.com/callback',
  'javascript:alert(1)',
  'data:text/html,x',
  'https://example.com/callback#fragment',
  'not an address',
])('an app that would be called back at %s is not registered', async (uri) => {
  const { status, body } = await register(s, { redirect_uris: [REDIRECT, uri] });
  expect([status, body.error]).toEqual([400, expect.stringMatching(/^invalid_(?:redirect_uri|client_metadata)$/)]);
});

test('registration takes what real clients send, and says what it made of it', async () => {
  const { status, body } = await register(s, {
    redirect_uris: [REDIRECT, 'cursor://anysphere.cursor-mcp/callback', 'https://ada.example/callback'],
    client_name: '  Ada\u202e\n ',
    scope: 'openid profile mcp:read',
    grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    response_types: ['code', 'id_token'],
    token_endpoint_auth_method: 'tls_client_auth',
    require_auth_time: true,
    default_max_age: 10,
    jwks_uri: 'http://169.254.169.254/keys',
    contacts: ['nobody'],
    unheard_of: { of: 1 },
  });
  expect(status).toBe(201);
  expect(body).toMatchObject({
    client_id: expect.stringMatching(/^client_[0-9a-z]{26}$/),
    client_name: 'Ada',
    application_type: 'native',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    scope: 'mcp:read mcp:write offline_access',
    token_endpoint_auth_method: 'none',
  });
  for (const name of [
    'client_secret',
    'jwks_uri',
    'contacts',
    'default_max_age',
    'unheard_of',
    'registration_access_token',
  ]) {
    expect(body).not.toHaveProperty(name);
  }
  expect((await register(s, { redirect_uris: ['https://ada.example/callback'] })).body.application_type).toBe('web');
});

test.each([
  { redirect_uris: [] },
  { redirect_uris: 'x' },
  { redirect_uris: [1] },
  { redirect_uris: Array(21).fill(REDIRECT) },
  { client_name: 7 },
])('registration refuses or mends %j without a fault of its own', async (metadata) => {
  expect([201, 400]).toContain((await register(s, metadata)).status);
});

test('who registered to look may ask for more later, since the scopes are known to all', async () => {
  const app = await rawApp(s, { scope: 'mcp:read' });
  const anna = await s.person();
  const { body } = await app.redeem(await codeFor(app, anna, {}, { scope: 'mcp:read mcp:write' }));
  expect(body.scope).toBe('mcp:read mcp:write');
});

test.each([
  ['no scope', null],
  ['an empty scope', ''],
  ['scopes that nobody knows', 'openid profile everything'],
])('a request with %s is not denied: the person decides', async (_, scope) => {
  const app = await rawApp(s);
  const { body } = await app.redeem(await codeFor(app, await s.person(), {}, { scope }));
  expect(body.scope).toBe('mcp:read mcp:write');
  expect(body).not.toHaveProperty('id_token');
});

test('a request that asks to stay connected, or to ask the person again, is like any other', async () => {
  const app = await rawApp(s);
  const changed = { scope: 'mcp:read offline_access', prompt: 'consent' };
  const { body } = await app.redeem(await codeFor(app, await s.person(), { access: 'read_only' }, changed));
  expect(body).toMatchObject({ scope: 'mcp:read', refresh_token: expect.stringMatching(/^tocsin_ort_/) });
});

test.each([
  ['without PKCE', { code_challenge: null, code_challenge_method: null }],
  ['with PKCE that proves nothing', { code_challenge_method: 'plain' }],
  ['with PKCE of no method', { code_challenge_method: null }],
  ['for a token at once', { response_type: 'token' }],
  ['for nobody to be asked', { prompt: 'none' }],
  ['for another resource', { resource: 'https://elsewhere.example/mcp' }],
  ['for a form that posts itself', { prompt: 'none', response_mode: 'form_post' }],
  ['for an answer behind the #', { prompt: 'none', response_mode: 'fragment' }],
])('a request %s is refused on a page of ours: nobody has approved the app', async (_, changed) => {
  const app = await rawApp(s, { redirect_uris: [REDIRECT, 'https://evil.example/login'] });
  const url = app.authorizationUrl({ redirect_uri: 'https://evil.example/login', ...changed });
  for (const jar of [null, (await s.person()).jar]) {
    const response = await (jar === null ? fetch(url, { redirect: 'manual' }) : jar.fetch(url));
    expect([response.status, response.headers.get('location')]).toEqual([400, null]);
    const page = await response.text();
    expect(page).toContain('This app cannot be connected.');
    expect(page).not.toContain('evil.example');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  }
});

test('who refuses an app stays here, and may follow a link that tells it', async () => {
  const app = await rawApp(s);
  const anna = await s.person();
  const uid = await anna.open(app.authorizationUrl());
  const { body } = await anna.ask('POST', `/connect/${uid}/refusal`, {});
  const response = await anna.jar.fetch(body.result.redirectTo);
  expect(response.headers.get('location')).toBeNull();
  const [, link] = /<a href="([^"]+)">Tell the app, at 127\.0\.0\.1:4711</.exec(await response.text())!;
  const { searchParams, origin, pathname } = new URL(link!.replaceAll('&amp;', '&'));
  expect(origin + pathname).toBe(REDIRECT);
  expect(Object.fromEntries(searchParams)).toMatchObject({ error: 'access_denied', state: 'a state', iss: s.baseUrl });
});

test('a code is worth nothing without its verifier, its client and its address', async () => {
  const anna = await s.person();
  const app = await rawApp(s);
  for (const changed of [
    { code_verifier: 'x'.repeat(43) },
    { client_id: (await rawApp(s)).clientId },
    { redirect_uri: 'http://127.0.0.1:4712/callback' },
    { resource: 'https://elsewhere.example' },
  ]) {
    expect((await app.redeem(await codeFor(app, anna), changed)).status, JSON.stringify(changed)).toBe(400);
  }
});

test('an app on the same machine may listen on any port, and one elsewhere is called back exactly where it said', async () => {
  const anna = await s.person();
  for (const [registered, asked] of [
    ['http://127.0.0.1:1/callback', 'http://127.0.0.1:50123/callback'],
    ['http://localhost/callback', 'http://localhost:50123/callback'],
    ['http://[::1]:7/callback', 'http://[::1]:50123/callback'],
  ] as const) {
    const app = await rawApp(s, { redirect_uris: [registered] });
    const called = await anna.approve(app.authorizationUrl({ redirect_uri: asked }));
    expect(called.href.startsWith(asked)).toBe(true);
    const code = called.searchParams.get('code')!;
    expect((await app.redeem(code, { redirect_uri: asked })).status).toBe(200);
  }
  const app = await rawApp(s, { redirect_uris: ['https://ada.example/callback', REDIRECT] });
  for (const redirect of [
    'https://ada.example/callback/',
    'https://ada.example:444/callback',
    'https://ada.example/callback?x=1',
    'http://127.0.0.1:4711/elsewhere',
    'http://127.0.0.2:4711/callback',
    'http://localhost:4711/callback',
  ]) {
    const response = await fetch(app.authorizationUrl({ redirect_uri: redirect }), { redirect: 'manual' });
    expect([response.status, response.headers.get('location')], redirect).toEqual([400, null]);
    expect(await response.text()).toContain('This app cannot be connected.');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  }
});

test('tokens are for the one resource, whichever way it is written', async () => {
  const anna = await s.person();
  for (const resource of [null, `${s.endpoint.href}/`]) {
    const app = await rawApp(s);
    const { body } = await app.redeem(await codeFor(app, anna, {}, { resource }));
    expect(await statusWith(body.access_token)).toBe(200);
    expect(await statusWith((await app.refresh(body.refresh_token)).body.access_token)).toBe(200);
  }
});

test('no token, code, secret or id of a request is in the database', async () => {
  const anna = await s.person();
  const app = await rawApp(s, { token_endpoint_auth_method: 'client_secret_post' });
  const registered = await register(s, { token_endpoint_auth_method: 'client_secret_post' });
  const uid = await anna.open(app.authorizationUrl());
  const { tokens } = await connected(s, anna);
  const code = await codeFor(await rawApp(s), anna);
  const rows = JSON.stringify(await s.house.db.sql.rows('select r.*, payload::text as text from oauth_records r'));
  const { client_secret: secret } = registered.body;
  expect(secret).toMatch(/^\S{43,}$/);
  for (const text of [secret, code, tokens.access_token, tokens.refresh_token]) expect(rows).not.toContain(text);
  // Where the browser goes on holds the id of its request, which is worth nothing without a cookie that we signed.
  expect(rows.replaceAll(`/oauth/authorize/${uid}`, '')).not.toContain(uid);
});

test('a client with a secret must prove it, in either way', async () => {
  const anna = await s.person();
  for (const method of ['client_secret_post', 'client_secret_basic'] as const) {
    const { body: client } = await register(s, { token_endpoint_auth_method: method });
    expect(client.token_endpoint_auth_method).toBe(method);
    const app = appOf(s, client.client_id);
    const code = await codeFor(app, anna);
    expect((await app.redeem(code)).status).toBe(401);
    expect((await app.redeem(code, { client_secret: 'wrong' })).status).toBe(401);
    expect((await app.redeem(code, { client_secret: client.client_secret })).status).toBe(200);
  }
});

test('an API key is no access token of a connection, and neither opens what is the other’s', async () => {
  const { tokens } = await connected(s, await s.person());
  expect((await s.call('list_teams', {}, { key: tokens.access_token })).status).toBe(401);
  expect(await statusWith(tokens.refresh_token)).toBe(401);
  expect(await statusWith(`${tokens.access_token.slice(0, -1)}_`)).toBe(401);
});

test('what has expired is removed, and what is in use stays', async () => {
  const own = await listeningWorldOfTest();
  const anna = await own.person();
  const { app, tokens } = await connected(own, anna);
  await rawApp(own);
  const never = await rawApp(own);
  await anna.approve(never.authorizationUrl());
  const count = async (table: string) =>
    (await own.house.db.sql.row<{ n: number }>(`select count(*)::int as n from ${table}`))!.n;
  await pruneConnections(own.house);
  expect([await count('connections'), await count('oauth_records')]).toEqual([2, 7]);

  // The code that was never redeemed is over, and so is its connection; the app that was used is kept.
  own.clock.advance({ hours: 2 });
  await pruneConnections(own.house);
  expect(await count('connections')).toBe(1);
  const ended = await own.house.db.sql.rows(`select after from audit_log where action = 'disconnect_app'`);
  expect(ended).toEqual([{ after: { why: 'its tokens have expired' } }]);

  own.clock.advance({ hours: 8 * 24 });
  await pruneConnections(own.house);
  const kinds = await own.house.db.sql.rows<{ kind: string }>('select kind from oauth_records order by kind');
  expect(kinds.map(({ kind }) => kind)).toEqual(['Client', 'Client', 'RefreshToken']);
  expect((await app.refresh(tokens.refresh_token)).status).toBe(200);

  own.clock.advance({ hours: 31 * 24 });
  await pruneConnections(own.house);
  expect(await count('connections')).toBe(0);
  own.clock.advance({ hours: 91 * 24 });
  await pruneConnections(own.house);
  expect(await count('oauth_records')).toBe(0);
  expect(await storesOf(own.house.db.session()).connections.list(own.orgId, null)).toEqual([]);
});

test('an address that registers one app after another has to wait', async () => {
  const own = await listeningWorldOfTest();
  const statuses: number[] = [];
  for (let index = 0; index < 31; index += 1) statuses.push((await register(own)).status);
  expect(statuses.filter((status) => status === 201)).toHaveLength(30);
  const refused = await register(own);
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60']);
  own.clock.advance({ minutes: 1 });
  expect((await register(own)).status).toBe(201);
});

test('a product that lives below a path does so in every address', async () => {
  const own = await listeningWorldOfTest({ path: '/ops/tocsin' });
  const { origin } = new URL(own.baseUrl);
  for (const path of [
    '/.well-known/oauth-authorization-server/ops/tocsin',
    '/.well-known/openid-configuration/ops/tocsin',
    '/ops/tocsin/.well-known/openid-configuration',
    '/ops/tocsin/.well-known/oauth-authorization-server',
  ]) {
    expect(await (await fetch(origin + path)).json(), path).toMatchObject({
      issuer: own.baseUrl,
      token_endpoint: `${own.baseUrl}/oauth/token`,
    });
  }
  const { tokens } = await connected(own, await own.person());
  expect((await send(own, 'tools/list', {}, { key: tokens.access_token })).status).toBe(200);
});

test('while the database is away apps are told to come again', async () => {
  const away = new AppError('unavailable', 'the database does not answer');
  const session = (): never => {
    throw away;
  };
  const adapter = recordAdapterOf({ ...s.house, db: { ...s.house.db, session }, resources: [] })('RefreshToken');
  const told = { error: 'temporarily_unavailable', statusCode: 503, cause: away };
  await expect(adapter.find('a token')).rejects.toMatchObject(told);
  await expect(adapter.consume('a token')).rejects.toMatchObject(told);
});

test('a fault of our own is told without its text, and a refresh that failed may be tried again', async () => {
  const { app, tokens } = await connected(s, await s.person());
  const { sql } = s.house.db;
  await sql.run('alter table oauth_records rename to oauth_records_away');
  try {
    const { status, body } = await app.refresh(tokens.refresh_token);
    expect([status, body.error]).toEqual([500, 'server_error']);
    expect(JSON.stringify(body)).not.toContain('oauth_records');
  } finally {
    await sql.run('alter table oauth_records_away rename to oauth_records');
  }
  expect((await app.refresh(tokens.refresh_token)).status).toBe(200);
});
