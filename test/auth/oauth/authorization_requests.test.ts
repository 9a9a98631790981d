import { beforeEach, expect, test } from 'vitest';

import { codeFor, rawApp, REDIRECT } from '#test/auth/oauth/raw_app.ts';
import { fileListeningWorld, listeningWorldOfTest } from '#test/auth/oauth/listening_world.ts';

const s = await fileListeningWorld();
// An address may register only 30 apps at once.
beforeEach(() => s.clock.advance({ seconds: 61 }));

test('an app that registered for reading may request more scopes later', async () => {
  const app = await rawApp(s, { scope: 'mcp:read' });
  const anna = await s.person();
  const { body } = await app.redeem(await codeFor(app, anna, {}, { scope: 'mcp:read mcp:write' }));
  expect(body.scope).toBe('mcp:read mcp:write');
});

test.each([
  ['no scope', null],
  ['an empty scope', ''],
  ['scopes that nobody knows', 'openid profile everything'],
])('a request with %s is accepted: the person decides', async (_, scope) => {
  const app = await rawApp(s);
  const { body } = await app.redeem(await codeFor(app, await s.person(), {}, { scope }));
  expect(body.scope).toBe('mcp:read mcp:write');
  expect(body).not.toHaveProperty('id_token');
});

test('a request for offline access or renewed consent is handled like any other', async () => {
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
])('a request %s is rejected on our own page, because nobody has approved the app', async (_, changed) => {
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

test('a person who denies an app stays on our page, with a link that informs the app', async () => {
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

test('a redirect URI on the same machine may use any port, and any other must match exactly', async () => {
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

test('an address opens so many authorization requests a minute, and none with a long query, so that strangers fill no table', async () => {
  const own = await listeningWorldOfTest({ settings: { appAuthorizationsPerMinute: 3 } });
  const app = await rawApp(own);
  const open = (state: string) => fetch(app.authorizationUrl({ state }), { redirect: 'manual' });
  const long = await open('x'.repeat(4_096));
  expect([long.status, await long.text()]).toEqual([400, expect.stringContaining('send a shorter state')]);
  const answers = [await open('a'), await open('b'), await open('c')];
  expect(answers.map(({ status }) => status)).toEqual([303, 303, 429]);
  expect(answers[2]!.headers.get('retry-after')).toBe('60');
  expect(await answers[2]!.text()).toContain('Too many apps ask to be connected from this address.');
  const kept = "select count(*)::int as count from oauth_records where kind = 'Interaction'";
  expect(await own.context.db.sql.row(kept)).toEqual({ count: 2 });
  expect(await own.metrics()).toContain('tocsin_limits_met_total{limit="LIMIT_APP_AUTHORIZATIONS_PER_MINUTE"} 1');
  own.clock.advance({ minutes: 1 });
  expect((await open('d')).status).toBe(303);
});
