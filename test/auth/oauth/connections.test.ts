import { expect, test } from 'vitest';

import { createReset } from '#modules/accounts/operations/password_resets.ts';
import { openBrowser, PASSWORD, signedIn } from '#test/kit/programs/browser.ts';
import { ROLE_PERMISSIONS } from '#kernel/permissions.ts';
import { inUnitOfWork, storesOf } from '#modules/stores.ts';
import { CONTRACT } from '#test/contract/action_api.ts';
import { call, send } from '#test/contract/mcp_call.ts';
import { codeFor, connected, rawApp } from '#test/auth/oauth/raw_app.ts';
import { fileListeningWorld, personOf } from '#test/auth/oauth/listening_world.ts';
import type { Answer } from '#test/kit/world.ts';

const s = await fileListeningWorld();

const people = () => storesOf(s.context.db.session()).people;
const toolsWith = async (token: string) => await send(s, 'tools/list', {}, { key: token });
const namesIn = ({ body }: Answer) => body.result.tools.map(({ name }: { name: string }) => name);
const toolsFor = (permissions: readonly string[]) =>
  CONTRACT.filter(({ permission }) => permissions.includes(permission)).map(({ action }) => action);
const auditOf = async (action: string, target: string | null) =>
  await s.context.db.sql.rows<{ actor: object; via: string; result: string; before: object; after: object }>(
    'select actor, via, result, before, after from audit_log where action = $1 and target is not distinct from $2',
    [action, target],
  );

test('the page that asks names the app, the host it returns to, and every organization of the person', async () => {
  const anna = await s.person({ role: 'responder' });
  const other = await s.given.organization('Umbrella');
  await people().setMembership(other.orgId, anna.userId, 'viewer', s.clock.now());
  const app = await rawApp(s, { client_uri: 'https://ada.example/about', logo_uri: 'https://ada.example/logo.png' });
  const uid = await anna.open(app.authorizationUrl());
  expect((await anna.ask('GET', `/connect/${uid}`)).body.result).toEqual({
    client: {
      name: 'Ada',
      uri: 'https://ada.example/about',
      logoUri: null,
      redirectHost: '127.0.0.1:4711',
      kind: 'registered',
    },
    organizations: [
      { orgId: s.orgId, name: 'Acme', role: 'responder' },
      { orgId: other.orgId, name: 'Umbrella', role: 'viewer' },
    ],
    access: 'read_only',
    canChange: true,
  });
});

test('a connection acts in the organization that was chosen, and in no other', async () => {
  const anna = await s.person({ role: 'viewer' });
  const other = await s.given.organization('Umbrella');
  await people().setMembership(other.orgId, anna.userId, 'editor', s.clock.now());
  const { tokens } = await connected(s, anna, { orgId: other.orgId });
  const made = await call(s, 'create_team', { name: 'Payments' }, { key: tokens.access_token });
  expect(made.body.isError).toBeUndefined();
  const row = await s.context.db.sql.row('select org_id from teams where id = $1', [
    made.body.structuredContent.result.teamId,
  ]);
  expect(row).toEqual({ org_id: other.orgId });
});

test('an organization that the person does not belong to is not there', async () => {
  const anna = await s.person();
  const other = await s.given.organization('Umbrella');
  const app = await rawApp(s);
  const uid = await anna.open(app.authorizationUrl());
  expect(await anna.ask('POST', `/connect/${uid}`, { orgId: other.orgId, access: 'read_only' })).toMatchObject({
    status: 404,
  });
  expect(await anna.ask('POST', `/connect/${uid}`, { orgId: s.orgId, access: 'read_only' })).toMatchObject({
    status: 200,
  });
});

test('a change over a read-only connection is refused over HTTP, so that the app can ask for more', async () => {
  const anna = await s.person({ role: 'responder' });
  const { tokens, connectionId } = await connected(s, anna, { access: 'read_only' });
  expect(tokens.scope).toBe('mcp:read');
  expect(namesIn(await toolsWith(tokens.access_token))).toEqual(
    toolsFor(ROLE_PERMISSIONS.responder.filter((permission) => permission.endsWith(':view'))),
  );
  for (const era of ['modern', 'legacy'] as const) {
    const refused = await call(s, 'create_team', { name: 'Payments' }, { key: tokens.access_token, era });
    expect(refused.status).toBe(403);
    expect(refused.headers['www-authenticate']).toBe(
      'Bearer error="insufficient_scope", error_description="create_team changes data, and this connection was approved for reading only", ' +
        `resource_metadata="${s.baseUrl}/.well-known/oauth-protected-resource/api/mcp", scope="mcp:read mcp:write"`,
    );
    expect(refused.body).toMatchObject({
      jsonrpc: '2.0',
      error: { data: { code: 'insufficient_scope', status: 403 } },
    });
  }
  const actor = { kind: 'user', userId: anna.userId, apiKeyId: null, connection: { connectionId, clientName: 'Ada' } };
  const rows = (await auditOf('create_team', null)).filter((row) => JSON.stringify(row.actor).includes(connectionId));
  expect(rows).toEqual(
    Array.from({ length: 2 }, () => ({ actor, via: 'mcp', result: 'forbidden', before: null, after: null })),
  );
  // What the role does not allow either, more approval would not allow.
  const beyond = await call(s, 'create_service', { name: 'x' }, { key: tokens.access_token });
  expect(beyond.body).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/^forbidden: .*services:edit, which your role does not have/) }],
  });
});

test('a batch of an older client is refused as one when any of its calls needs more', async () => {
  const { tokens } = await connected(s, await s.person(), { access: 'read_only' });
  const response = await fetch(s.endpoint, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-03-26',
      authorization: `Bearer ${tokens.access_token}`,
    },
    body: JSON.stringify([
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_teams', arguments: {} } },
      { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'create_team', arguments: { name: 'x' } } },
    ]),
  });
  expect(response.status).toBe(403);
});

test('changes through a connection are those of the person through the app', async () => {
  const anna = await s.person();
  const { tokens, connectionId } = await connected(s, anna);
  const made = await call(s, 'create_team', { name: 'Payments' }, { key: tokens.access_token });
  expect(await auditOf('create_team', made.body.structuredContent.result.teamId)).toMatchObject([
    {
      actor: { kind: 'user', userId: anna.userId, apiKeyId: null, connection: { connectionId, clientName: 'Ada' } },
      via: 'mcp',
      result: 'done',
    },
  ]);
  const described = { userId: anna.userId, clientName: 'Ada', clientUri: null, access: 'changes' };
  expect(await auditOf('connect_app', connectionId)).toMatchObject([
    { actor: { kind: 'user', userId: anna.userId }, via: 'console', result: 'done', before: null, after: described },
  ]);
  await anna.ask('POST', `/organizations/${s.orgId}/actions/disconnect_app`, { connectionId });
  expect(await auditOf('disconnect_app', connectionId)).toMatchObject([
    { actor: { kind: 'user', userId: anna.userId }, via: 'console', result: 'done', before: described, after: null },
  ]);
});

const ENDS: [string, (who: { userId: never; orgId: never; connectionId: string }) => Promise<unknown>][] = [
  ['disconnecting', ({ connectionId }) => storesOf(s.context.db.session()).connections.remove(connectionId)],
  ['leaving the organization', ({ orgId, userId }) => people().removeMembership(orgId, userId)],
  [
    'a new password',
    async ({ userId }) => {
      const { email } = (await s.context.db.sql.row<{ email: string }>('select email from users where id = $1', [
        userId,
      ]))!;
      const browser = await signedIn(s, email);
      const answer = { currentPassword: PASSWORD, newPassword: 'quiet harbour 7 lantern' };
      expect((await browser.post('/me/password', answer)).status).toBe(200);
    },
  ],
  [
    'a new password by a link',
    async ({ userId }) => {
      const origin = { requestId: 'req_1', address: null };
      const made = await inUnitOfWork(s.context.actions, (unit) =>
        createReset(
          unit,
          userId,
          { baseUrl: s.baseUrl, isMailed: false },
          { actor: { kind: 'system' }, via: 'cli', origin },
        ),
      );
      const body = { password: 'quiet harbour 7 lantern', revokeApiKeys: false };
      expect((await openBrowser(s).post(`/password-resets/${made.link.split('/').at(-1)}`, body)).status).toBe(200);
    },
  ],
  ['the end of the user', ({ userId }) => s.context.db.sql.run('delete from users where id = $1', [userId])],
  [
    'the end of the organization',
    ({ orgId }) => s.context.db.sql.run('delete from organizations where id = $1', [orgId]),
  ],
];

test.each(ENDS)('after %s the very next request is refused, the refresh included', async (_, end) => {
  const { orgId } = await s.given.organization('Umbrella');
  const anna = await s.person({ orgId });
  const { app, tokens, connectionId } = await connected(s, anna, { orgId });
  expect((await toolsWith(tokens.access_token)).status).toBe(200);
  await end({ userId: anna.userId as never, orgId: orgId as never, connectionId });
  const refused = await toolsWith(tokens.access_token);
  expect(refused.status).toBe(401);
  expect(refused.headers['www-authenticate']).toMatch(/^Bearer error="invalid_token"/);
  expect(await app.refresh(tokens.refresh_token)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
});

test('a member who comes back to an organization finds none of the old connections', async () => {
  const anna = await s.person();
  const { tokens } = await connected(s, anna);
  await people().removeMembership(s.orgId, anna.userId);
  await people().setMembership(s.orgId, anna.userId, 'owner', s.clock.now());
  expect((await toolsWith(tokens.access_token)).status).toBe(401);
});

test('a lowered role counts from the very next request, whatever was approved', async () => {
  const anna = await s.person({ role: 'owner' });
  const { app, tokens } = await connected(s, anna);
  for (const role of ['owner', 'viewer', 'responder', 'admin'] as const) {
    await people().setMembership(s.orgId, anna.userId, role, s.clock.now());
    expect(namesIn(await toolsWith(tokens.access_token))).toEqual(toolsFor(ROLE_PERMISSIONS[role]));
  }
  await people().setMembership(s.orgId, anna.userId, 'viewer', s.clock.now());
  const refused = await call(s, 'create_team', { name: 'x' }, { key: tokens.access_token });
  expect(refused.body).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(/^forbidden: /) }] });
  const { access_token } = (await app.refresh(tokens.refresh_token)).body;
  expect(namesIn(await toolsWith(access_token))).toEqual(toolsFor(ROLE_PERMISSIONS.viewer));
});

test('an access token ends after an hour, and the refresh token goes on', async () => {
  const { app, tokens } = await connected(s, await s.person());
  expect(tokens).toMatchObject({ token_type: 'Bearer', expires_in: 3_600, scope: 'mcp:read mcp:write' });
  s.clock.advance({ minutes: 61 });
  expect((await toolsWith(tokens.access_token)).status).toBe(401);
  const refreshed = await app.refresh(tokens.refresh_token);
  expect((await toolsWith(refreshed.body.access_token)).status).toBe(200);
});

test('a refresh for less yields a token that may do less', async () => {
  const { app, tokens } = await connected(s, await s.person({ role: 'editor' }));
  const { body } = await app.refresh(tokens.refresh_token, { scope: 'mcp:read' });
  expect(body.scope).toBe('mcp:read');
  expect((await call(s, 'create_team', { name: 'x' }, { key: body.access_token })).status).toBe(403);
});

test('a client that gives back a token is disconnected, and that is in the audit log', async () => {
  for (const which of ['access_token', 'refresh_token'] as const) {
    const anna = await s.person();
    const { app, tokens, connectionId } = await connected(s, anna);
    expect((await app.revoke(tokens[which])).status).toBe(200);
    expect((await toolsWith(tokens.access_token)).status).toBe(401);
    expect((await app.refresh(tokens.refresh_token)).status).toBe(400);
    const rows = await auditOf('disconnect_app', connectionId);
    expect(rows).toMatchObject([{ via: 'mcp', actor: { userId: anna.userId, connection: { connectionId } } }]);
    expect((await app.revoke(tokens[which])).status).toBe(200);
  }
});

test('a client cannot revoke the token of another client', async () => {
  const { tokens } = await connected(s, await s.person());
  const stranger = await rawApp(s);
  await stranger.revoke(tokens.refresh_token);
  await stranger.revoke(tokens.access_token);
  expect((await toolsWith(tokens.access_token)).status).toBe(200);
});

test('people see and end their own connections, and who manages the organization those of all', async () => {
  const { orgId } = await s.given.organization('Umbrella');
  const [anna, bram, olga] = [
    await s.person({ orgId, name: 'Anna' }),
    await s.person({ orgId, name: 'Bram', role: 'responder' }),
    await s.person({ orgId, name: 'Olga', role: 'admin' }),
  ];
  const ofAnna = await connected(s, anna, { orgId, access: 'read_only' });
  const ofBram = await connected(s, bram, { orgId });
  const list = async (person: typeof anna) =>
    (await person.ask('POST', `/organizations/${orgId}/actions/list_connections`, {})).body.result.connections;
  const at = s.clock.now().toString({ fractionalSecondDigits: 3 });
  expect(await list(anna)).toEqual([
    {
      connectionId: ofAnna.connectionId,
      clientName: 'Ada',
      clientUri: null,
      user: { userId: anna.userId, name: 'Anna' },
      access: 'read_only',
      createdAt: at,
      lastUsedAt: null,
    },
  ]);
  expect((await list(olga)).map(({ connectionId }: { connectionId: string }) => connectionId)).toEqual([
    ofBram.connectionId,
    ofAnna.connectionId,
  ]);
  const end = (person: typeof anna, connectionId: string, from: string = orgId) =>
    person.ask('POST', `/organizations/${from}/actions/disconnect_app`, { connectionId });
  expect((await end(bram, ofAnna.connectionId)).status).toBe(404);
  const stranger = await s.person({ role: 'owner' });
  expect((await end(stranger, ofAnna.connectionId)).status).toBe(404);
  expect((await end(stranger, ofAnna.connectionId, s.orgId)).status).toBe(404);
  expect((await stranger.ask('POST', `/organizations/${orgId}/actions/list_connections`, {})).status).toBe(404);
  expect((await toolsWith(ofAnna.tokens.access_token)).status).toBe(200);
  expect((await end(olga, ofAnna.connectionId)).body).toEqual({
    result: { deleted: true, connectionId: ofAnna.connectionId },
  });
  expect((await toolsWith(ofAnna.tokens.access_token)).status).toBe(401);
  expect((await end(bram, ofBram.connectionId)).status).toBe(200);
});

test('when a connection was last used is known to the minute', async () => {
  const anna = await s.person();
  const { tokens, connectionId } = await connected(s, anna);
  const lastUsed = async () =>
    (await storesOf(s.context.db.session()).connections.find(connectionId))?.lastUsedAt?.toString();
  const first = s.clock.now().toString();
  await toolsWith(tokens.access_token);
  s.clock.advance({ seconds: 59 });
  await toolsWith(tokens.access_token);
  expect(await lastUsed()).toBe(first);
  s.clock.advance({ seconds: 2 });
  await toolsWith(tokens.access_token);
  expect(await lastUsed()).toBe(s.clock.now().toString());
});

test('an app that asks to look is granted no more', async () => {
  const anna = await s.person();
  const app = await rawApp(s);
  const uid = await anna.open(app.authorizationUrl({ scope: 'mcp:read' }));
  expect((await anna.ask('GET', `/connect/${uid}`)).body.result).toMatchObject({ canChange: false });
  expect((await anna.ask('POST', `/connect/${uid}`, { orgId: s.orgId, access: 'changes' })).status).toBe(400);
  expect((await anna.ask('POST', `/connect/${uid}`, { orgId: s.orgId, access: 'read_only' })).status).toBe(200);
});

test('a request belongs to the browser it began in, and to somebody who is signed in there', async () => {
  const anna = await s.person();
  const app = await rawApp(s);
  const uid = await anna.open(app.authorizationUrl());
  const mallory = await s.person({ name: 'Mallory' });
  const answer = { orgId: s.orgId, access: 'read_only' };
  expect((await mallory.ask('GET', `/connect/${uid}`)).status).toBe(404);
  expect((await mallory.ask('POST', `/connect/${uid}`, answer)).status).toBe(404);
  const foreign = await anna.jar.fetch(`${s.baseUrl}/api/console/connect/${uid}`, {
    method: 'POST',
    headers: { origin: 'https://evil.example', 'content-type': 'application/json' },
    body: JSON.stringify(answer),
  });
  expect(foreign.status).toBe(403);
  anna.jar.clear(/^tocsin_session$/);
  expect((await anna.ask('GET', `/connect/${uid}`)).status).toBe(401);
  await anna.signIn();
  expect((await anna.ask('POST', `/connect/${uid}`, answer)).status).toBe(200);
});

test('a person who signs out before the app is called back is asked again, and so is the next person to sign in', async () => {
  const anna = await s.person();
  const bram = await s.person({ name: 'Bram' });
  const app = await rawApp(s);
  const uid = await anna.open(app.authorizationUrl());
  const { body } = await anna.ask('POST', `/connect/${uid}`, { orgId: s.orgId, access: 'changes' });
  anna.jar.clear(/^tocsin_session$/);
  const asked = await anna.open(body.result.redirectTo);
  expect(asked).not.toBe(uid);
  const bramInHerBrowser = personOf(s.baseUrl, bram, anna.jar);
  await bramInHerBrowser.signIn();
  const answer = await bramInHerBrowser.ask('POST', `/connect/${asked}`, { orgId: s.orgId, access: 'read_only' });
  const called = await bramInHerBrowser.follow(answer.body.result.redirectTo);
  const { access_token } = (await app.redeem(called.searchParams.get('code')!)).body;
  expect((await toolsWith(access_token)).status).toBe(200);
  const used = (await bram.ask('POST', `/organizations/${s.orgId}/actions/list_connections`, {})).body.result
    .connections;
  expect(used).toMatchObject([{ user: { userId: bram.userId }, access: 'read_only', lastUsedAt: expect.any(String) }]);
});

test('an app that was approved once is asked about every time', async () => {
  const anna = await s.person();
  const app = await rawApp(s);
  await codeFor(app, anna);
  expect(await anna.open(app.authorizationUrl())).toMatch(/^[\w-]{43}$/);
  const quietly = await anna.jar.fetch(app.authorizationUrl({ prompt: 'none' }));
  expect([quietly.status, quietly.headers.get('location')]).toEqual([400, null]);
});

test('two tabs ask at the same time, and each request is answered once', async () => {
  const anna = await s.person();
  const [one, other] = [await rawApp(s), await rawApp(s)];
  const [first, second] = [await anna.open(one.authorizationUrl()), await anna.open(other.authorizationUrl())];
  const answer = { orgId: s.orgId, access: 'read_only' };
  const clicks = await Promise.all(Array.from({ length: 5 }, () => anna.ask('POST', `/connect/${first}`, answer)));
  expect(clicks.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 404, 404, 404, 404]);
  expect((await anna.ask('GET', `/connect/${first}`)).status).toBe(404);
  const approved = await anna.ask('POST', `/connect/${second}`, answer);
  const redirects = [...clicks, approved].filter(({ status }) => status === 200);
  for (const [index, app] of [one, other].entries()) {
    const called = await anna.follow(redirects[index]!.body.result.redirectTo);
    expect((await app.redeem(called.searchParams.get('code')!)).status).toBe(200);
  }
});
