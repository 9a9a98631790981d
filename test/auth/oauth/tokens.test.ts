import { beforeEach, expect, test } from 'vitest';

import { storesOf } from '#modules/stores.ts';
import { altered } from '#test/auth/altered.ts';
import { send } from '#test/contract/mcp_call.ts';
import { appOf, codeFor, connected, rawApp, register } from '#test/auth/oauth/raw_app.ts';
import { fileListeningWorld, listeningWorldOfTest } from '#test/auth/oauth/listening_world.ts';
import { sweep } from '#test/kit/properties.ts';
import { pruneConnections } from '#workers/pruning.ts';

const s = await fileListeningWorld();
// An address may register only 30 apps at once.
beforeEach(() => s.clock.advance({ seconds: 61 }));

const statusWith = async (token: string) => (await send(s, 'tools/list', {}, { key: token })).status;

test('when several requests redeem one code at the same time, exactly one gets tokens, and they work', async () => {
  const anna = await s.person();
  for (const _round of sweep([0, 1, 2, 3, 4], 3)) {
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

test('a code that is used again is rejected, and after ten seconds it also ends its connection', async () => {
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

test('a refresh may be repeated for ten seconds; long after it the same token ends the connection', async () => {
  const { app, tokens, connectionId } = await connected(s, await s.person());
  const atOnce = await Promise.all(Array.from({ length: 4 }, () => app.refresh(tokens.refresh_token)));
  expect(atOnce.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  // One chain: all of them got the same next token, which follows from what only we know.
  const [next] = new Set(atOnce.map(({ body }) => body.refresh_token));
  expect(new Set(atOnce.map(({ body }) => body.refresh_token)).size).toBe(1);
  const live = await s.context.db.sql.row<{ n: number }>(
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
  s.clock.advance({ minutes: 10 });
  expect(await app.refresh(tokens.refresh_token)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  for (const { body } of [...atOnce, repeated]) {
    expect(await statusWith(body.access_token)).toBe(401);
    expect((await app.refresh(body.refresh_token)).status).toBe(400);
  }
  const ended = await s.context.db.sql.row(
    `select actor, via, after from audit_log where action = 'disconnect_app' and target = $1`,
    [connectionId],
  );
  expect(ended).toEqual({
    actor: { kind: 'system' },
    via: 'system',
    after: { why: 'a code or refresh token came again after it was used' },
  });
});

test('a second window that brings the token just replaced is refused, and the connection goes on', async () => {
  const { app, tokens: first } = await connected(s, await s.person());
  const { body: second } = await app.refresh(first.refresh_token);
  const refused = { status: 400, body: { error: 'invalid_grant' } };
  s.clock.advance({ seconds: 40 });
  expect(await app.refresh(first.refresh_token)).toMatchObject(refused);
  expect(await statusWith(second.access_token)).toBe(200);
  const { status, body: third } = await app.refresh(second.refresh_token);
  expect(status).toBe(200);
  s.clock.advance({ seconds: 40 });
  // One that was replaced by a token that was used as well is in the hands of somebody else.
  expect(await app.refresh(first.refresh_token)).toMatchObject(refused);
  expect(await statusWith(third.access_token)).toBe(401);
  expect(await app.refresh(third.refresh_token)).toMatchObject(refused);
});

test('a code is rejected without its verifier, its client and its redirect URI', async () => {
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

test('tokens are valid for the one resource, with or without a trailing slash', async () => {
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
  const rows = JSON.stringify(await s.context.db.sql.rows('select r.*, payload::text as text from oauth_records r'));
  const { client_secret: secret } = registered.body;
  expect(secret).toMatch(/^\S{43,}$/);
  for (const text of [secret, code, tokens.access_token, tokens.refresh_token]) expect(rows).not.toContain(text);
  // Where the browser goes on holds the id of its request, which is worth nothing without a cookie that we signed.
  expect(rows.replaceAll(`/oauth/authorize/${uid}`, '')).not.toContain(uid);
});

test('a client with a secret must present it, in the body or the header', async () => {
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

test('an access token is rejected as an API key, and a refresh token as an access token', async () => {
  const { tokens } = await connected(s, await s.person());
  expect((await s.call('list_teams', {}, { key: tokens.access_token })).status).toBe(401);
  expect(await statusWith(tokens.refresh_token)).toBe(401);
  expect(await statusWith(altered(tokens.access_token))).toBe(401);
});

test('expired records are removed, and records in use are kept', async () => {
  const ownWorld = await listeningWorldOfTest();
  const anna = await ownWorld.person();
  const { app, tokens } = await connected(ownWorld, anna);
  await rawApp(ownWorld);
  const never = await rawApp(ownWorld);
  await anna.approve(never.authorizationUrl());
  const count = async (table: string) =>
    (await ownWorld.context.db.sql.row<{ n: number }>(`select count(*)::int as n from ${table}`))!.n;
  await pruneConnections(ownWorld.context);
  expect([await count('connections'), await count('oauth_records')]).toEqual([2, 7]);

  // The code that was never redeemed is over, and so is its connection; the app that was used is kept.
  ownWorld.clock.advance({ hours: 2 });
  await pruneConnections(ownWorld.context);
  expect(await count('connections')).toBe(1);
  const ended = await ownWorld.context.db.sql.rows(`select after from audit_log where action = 'disconnect_app'`);
  expect(ended).toEqual([{ after: { why: 'its tokens have expired' } }]);

  ownWorld.clock.advance({ hours: 8 * 24 });
  await pruneConnections(ownWorld.context);
  const kinds = await ownWorld.context.db.sql.rows<{ kind: string }>('select kind from oauth_records order by kind');
  expect(kinds.map(({ kind }) => kind)).toEqual(['Client', 'Client', 'RefreshToken']);
  expect((await app.refresh(tokens.refresh_token)).status).toBe(200);

  ownWorld.clock.advance({ hours: 31 * 24 });
  await pruneConnections(ownWorld.context);
  expect(await count('connections')).toBe(0);
  ownWorld.clock.advance({ hours: 91 * 24 });
  await pruneConnections(ownWorld.context);
  expect(await count('oauth_records')).toBe(0);
  expect(await storesOf(ownWorld.context.db.session()).connections.count(ownWorld.orgId, { ofUser: null })).toBe(0);
});

test('an app that is in use stays connected for longer than a client is kept', async () => {
  const ownWorld = await listeningWorldOfTest();
  const { app, tokens } = await connected(ownWorld, await ownWorld.person());
  let token = tokens.refresh_token;
  for (let month = 1; month <= 4; month += 1) {
    ownWorld.clock.advance({ hours: 29 * 24 });
    await pruneConnections(ownWorld.context);
    const { status, body } = await app.refresh(token);
    expect([month, status]).toEqual([month, 200]);
    token = body.refresh_token;
  }
});

test('an internal error is answered without details, and a refresh that failed can be retried', async () => {
  const { app, tokens } = await connected(s, await s.person());
  const { sql } = s.context.db;
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
