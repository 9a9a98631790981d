import { afterAll, expect, test } from 'vitest';

import { issueApiKey } from '#auth/api_keys.ts';
import type { Id } from '#kernel/ids.ts';
import type { Role } from '#kernel/permissions.ts';
import type { Temporal } from '#kernel/time.ts';
import { storesOf } from '#modules/stores.ts';
import { altered } from '#test/auth/altered.ts';
import { ask, callsMade } from '#test/contract/ask.ts';
import { EACH_ACTION } from '#test/contract/fixture.ts';
import { sweep } from '#test/kit/properties.ts';
import { fileWorld } from '#test/kit/world.ts';

const w = await fileWorld();
const refused = await badCredentials();
afterAll(() => console.log(`${callsMade()} calls with bad or good credentials were made`));

async function badCredentials(): Promise<Record<string, Record<string, string>>> {
  const good = w.orgKey;
  const service = await w.given.service();
  const [left, revoked, expired] = [await w.given.user(), await issue({}), await issue({ expiresAt: w.clock.now() })];
  await storesOf(w.context.db.session()).people.removeMembership(w.orgId, left.userId);
  await storesOf(w.context.db.session()).apiKeys.revoke(revoked.keyId, w.clock.now());
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
  return {
    'no key': {},
    'an empty header': { authorization: '' },
    'a scheme without a key': { authorization: 'Bearer ' },
    'a key without a scheme': { authorization: good },
    'another scheme': { authorization: `Basic ${Buffer.from(`key:${good}`).toString('base64')}` },
    'two keys in one header': bearer(`${good} ${good}`),
    'a key in the header of ingestion': { 'x-api-key': good },
    'a key that was never issued': bearer('tocsin_key_00000000000000000000000000000000000000000000000000'),
    'a key with a wrong checksum': bearer(altered(good)),
    'a key in another case': bearer(good.toUpperCase()),
    'a revoked key': bearer(revoked.key),
    'an expired key': bearer(expired.key),
    'a key of a user who has left': bearer(left.key),
    'an ingestion key': bearer(service.ingestionKey),
    'a DSN': bearer(service.dsn),
  };
}

async function issue(options: { expiresAt?: Temporal.Instant; userId?: Id<'user'> }) {
  return await w.context.db.transaction((session) =>
    issueApiKey(
      storesOf(session),
      { orgId: w.orgId, userId: null, name: 'test', permissions: null, ...options },
      w.clock.now(),
    ),
  );
}

test.each(EACH_ACTION)('%s is closed to everyone without a good key', async (name) => {
  // Keys are checked for all actions alike: in the gate each is tried by three of fifteen.
  const turn = EACH_ACTION.findIndex(([other]) => other === name);
  for (const [credential, headers] of sweep(Object.entries(refused), 5, turn % 5)) {
    const answer = await ask(w, name, { key: null, headers, address: name, body: 'no JSON' });
    expect(answer, credential).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': 'Bearer realm="tocsin"', 'cache-control': 'no-store' },
      body: { code: 'unauthenticated', title: 'Unauthorized' },
    });
    expect(answer.text, credential).not.toContain(w.orgKey);
  }
});

test.each(['Bearer', 'bearer', 'BEARER'])('the scheme is taken as %s, with any number of spaces', async (scheme) => {
  for (const space of [' ', '   ']) {
    const headers = { authorization: `${scheme}${space}${w.orgKey}` };
    expect((await ask(w, 'list_services', { key: null, headers })).status).toBe(200);
  }
});

test('a role that is lowered counts from the very next request, and so does one that is raised', async () => {
  const person = await w.given.user({ role: 'editor' });
  const statusAs = async (role: Role) => {
    await storesOf(w.context.db.session()).people.setMembership(w.orgId, person.userId, role, w.clock.now());
    return (await ask(w, 'create_service', { key: person.key, body: { name: 'x' } })).status;
  };
  expect(await statusAs('editor')).toBe(200);
  expect(await statusAs('responder')).toBe(403);
  expect(await statusAs('viewer')).toBe(403);
  expect(await statusAs('owner')).toBe(200);
});

test('a user who is removed is out from the very next request, with every key, and in again when invited again', async () => {
  const person = await w.given.user({ role: 'admin' });
  const second = await w.given.apiKey({ userId: person.userId });
  const { people } = storesOf(w.context.db.session());
  const statuses = async () => [
    (await ask(w, 'list_teams', { key: person.key })).status,
    (await ask(w, 'list_teams', { key: second })).status,
  ];
  expect(await statuses()).toEqual([200, 200]);
  await people.removeMembership(w.orgId, person.userId);
  expect(await statuses()).toEqual([401, 401]);
  await people.setMembership(w.orgId, person.userId, 'viewer', w.clock.now());
  expect(await statuses()).toEqual([200, 200]);
});

test('a key that is revoked is refused from the very next request', async () => {
  const { keyId, key } = await issue({});
  expect((await ask(w, 'list_teams', { key })).status).toBe(200);
  await storesOf(w.context.db.session()).apiKeys.revoke(keyId, w.clock.now());
  expect((await ask(w, 'list_teams', { key })).status).toBe(401);
});

test('a key is good until the instant at which it expires', async () => {
  const { key } = await issue({ expiresAt: w.clock.now().add({ seconds: 10 }) });
  w.clock.advance({ milliseconds: 9_999 });
  expect((await ask(w, 'list_teams', { key })).status).toBe(200);
  w.clock.advance({ milliseconds: 1 });
  expect((await ask(w, 'list_teams', { key })).status).toBe(401);
});

test('a key acts in its own organization only, also when its user belongs to two', async () => {
  const other = await w.given.organization('Other');
  const { userId, key } = await w.given.user({ role: 'owner' });
  await storesOf(w.context.db.session()).people.setMembership(other.orgId, userId, 'owner', w.clock.now());
  await ask(w, 'create_team', { key: other.orgKey, body: { name: 'Theirs' } });
  const { result } = (await ask(w, 'list_teams', { key })).body;
  expect(result.teams.map((team: { name: string }) => team.name)).not.toContain('Theirs');
});

test('it shows when a key was last used, to the minute', async () => {
  const { keyId, key } = await issue({});
  const lastUsed = async () =>
    await w.context.db.sql.row<{ at: Temporal.Instant }>('select last_used_at as at from api_keys where id = $1', [
      keyId,
    ]);
  expect((await lastUsed())!.at).toBeNull();
  await ask(w, 'list_teams', { key });
  expect((await lastUsed())!.at.toString()).toBe(w.clock.now().round('millisecond').toString());
  const first = w.clock.now();
  w.clock.advance({ seconds: 30 });
  await ask(w, 'list_teams', { key });
  expect((await lastUsed())!.at.epochMilliseconds).toBe(first.epochMilliseconds);
  w.clock.advance({ seconds: 31 });
  await ask(w, 'list_teams', { key });
  expect((await lastUsed())!.at.epochMilliseconds).toBe(w.clock.now().epochMilliseconds);
});

test('an address that keeps trying bad keys is slowed, and a good key from there is taken all the while', async () => {
  const address = '192.0.2.7';
  const bad = () => ask(w, 'list_teams', { key: 'tocsin_key_guess', address });
  const good = () => ask(w, 'list_teams', { address });
  for (let attempt = 1; attempt <= 20; attempt += 1) expect((await bad()).status).toBe(401);
  expect((await good()).status).toBe(200);
  w.clock.advance({ seconds: 20 });
  const slowed = await bad();
  expect(slowed).toMatchObject({ status: 429, body: { code: 'rate_limited' }, headers: { 'retry-after': '40' } });
  expect(slowed.headers['www-authenticate']).toBeUndefined();
  expect((await ask(w, 'list_teams', { key: null, address })).status).toBe(429);
  expect((await good()).status).toBe(200);
  expect((await bad()).status).toBe(429);
  expect((await ask(w, 'list_teams', { key: 'tocsin_key_guess', address: '192.0.2.8' })).status).toBe(401);
  w.clock.advance({ seconds: 40 });
  expect((await bad()).status).toBe(401);
});

test('guesses from many addresses of one network are counted together', async () => {
  const guess = (host: number) =>
    ask(w, 'list_teams', { key: 'tocsin_key_guess', address: `2001:db8:1:2::${host.toString(16)}` });
  for (let host = 1; host <= 20; host += 1) expect((await guess(host)).status).toBe(401);
  expect((await guess(21)).status).toBe(429);
  const next = { key: 'tocsin_key_guess', address: '2001:db8:1:3::1' };
  expect((await ask(w, 'list_teams', next)).status).toBe(401);
});
