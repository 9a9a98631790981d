import { expect, test } from 'vitest';

import { addApiKey } from '#modules/api_keys/operations/api_keys.ts';
import { newId } from '#kernel/ids.ts';
import { storesOf } from '#modules/stores.ts';
import { type Browser, givenPerson, signedIn } from '#test/kit/programs/browser.ts';
import { type World, world } from '#test/kit/world.ts';

const KEY = { name: 'laptop', kind: 'user', permissions: null, expiresAt: null };

const keysOf = (w: World) => ({
  list: (browser: Browser) => browser.invoke(w.orgId, 'list_api_keys'),
  create: (browser: Browser, key: object) => browser.invoke(w.orgId, 'create_api_key', key),
  revoke: (browser: Browser, apiKeyId: string) => browser.invoke(w.orgId, 'revoke_api_key', { apiKeyId }),
});

async function threePeople() {
  const w = await world();
  const keys = keysOf(w);
  const as = async (role: 'admin' | 'editor' | 'viewer', name: string) => {
    const { email, userId } = await givenPerson(w, { role, name });
    return { userId, browser: await signedIn(w, email) };
  };
  return { w, keys, ada: await as('admin', 'Ada'), eva: await as('editor', 'Eva'), vic: await as('viewer', 'Vic') };
}

test('a key of one’s own acts as its person until it is revoked, and its secret is shown once', async () => {
  const { w, keys, eva } = await threePeople();
  const made = (await keys.create(eva.browser, { ...KEY, permissions: ['services:view'] })).body.result;
  expect(made).toMatchObject({
    kind: 'user',
    user: { userId: eva.userId, name: 'Eva' },
    permissions: ['services:view'],
  });
  expect(made.secret).toMatch(/^tocsin_key_\w{49}$/);
  expect((await w.call('list_services', {}, { key: made.secret })).status).toBe(200);
  expect((await w.call('list_teams', {}, { key: made.secret })).status).toBe(403);
  const [listed, ...others] = (await keys.list(eva.browser)).body.result.apiKeys.filter(
    ({ name }: { name: string }) => name === 'laptop',
  );
  expect(others).toEqual([]);
  expect(listed.lastUsedAt).not.toBeNull();
  expect(JSON.stringify(listed)).not.toContain(made.secret);
  expect((await keys.revoke(eva.browser, made.apiKeyId)).status).toBe(200);
  expect((await keys.revoke(eva.browser, made.apiKeyId)).status).toBe(404);
  expect((await w.call('list_services', {}, { key: made.secret })).status).toBe(401);
  const log = await w.context.db.sql.rows<{ row: string }>(
    `select t::text as row from audit_log t where target = $1 order by at, id`,
    [made.apiKeyId],
  );
  expect(log).toHaveLength(2);
  expect(log.map(({ row }) => row).join()).not.toContain(made.secret);
});

test('a key never has more permissions than its maker, and keys of the organization are for owners and admins', async () => {
  const { keys, ada, eva, vic } = await threePeople();
  expect((await keys.create(vic.browser, { ...KEY, permissions: ['services:edit'] })).status).toBe(403);
  expect((await keys.create(eva.browser, { ...KEY, permissions: ['services:delete'] })).status).toBe(403);
  expect((await keys.create(eva.browser, { ...KEY, kind: 'organization' })).status).toBe(403);
  const made = (await keys.create(ada.browser, { ...KEY, kind: 'organization' })).body.result;
  expect(made).toMatchObject({ kind: 'organization', user: null, permissions: null });
});

test('others’ keys are seen and revoked by owners and admins alone', async () => {
  const { keys, ada, eva, vic } = await threePeople();
  const { apiKeyId } = (await keys.create(eva.browser, KEY)).body.result;
  const idsOf = async ({ browser }: typeof ada) =>
    (await keys.list(browser)).body.result.apiKeys.map((key: { apiKeyId: string }) => key.apiKeyId);
  expect(await idsOf(ada)).toContain(apiKeyId);
  expect(await idsOf(vic)).not.toContain(apiKeyId);
  expect((await keys.revoke(vic.browser, apiKeyId)).status).toBe(404);
  expect((await keys.revoke(ada.browser, apiKeyId)).status).toBe(200);
});

test('a key may expire, and not in the past', async () => {
  const { w, keys, eva } = await threePeople();
  const expiresAt = w.clock.now().add({ hours: 1 }).toString();
  const { secret } = (await keys.create(eva.browser, { ...KEY, expiresAt })).body.result;
  expect((await w.call('list_services', {}, { key: secret })).status).toBe(200);
  w.clock.advance({ hours: 1 });
  expect((await w.call('list_services', {}, { key: secret })).status).toBe(401);
  const late = await keys.create(eva.browser, { ...KEY, expiresAt });
  expect(late).toMatchObject({ status: 400, body: { errors: [{ path: 'expiresAt' }] } });
});

test('a key that Tocsin made itself is told from one whose maker has left', async () => {
  const { w, keys, ada } = await threePeople();
  await keys.create(ada.browser, { ...KEY, name: 'of Ada', kind: 'organization' });
  await w.context.db.sql.rows(`update api_keys set created_by = null where name = 'of Ada'`);
  const { db, clock } = w.context;
  await db.transaction(async (session) => {
    const wanted = { orgId: w.orgId, userId: null, name: 'First key', permissions: null, expiresAt: null };
    const by = {
      actor: { kind: 'system' },
      via: 'system',
      origin: { requestId: newId('req'), address: null },
    } as const;
    await addApiKey({ stores: storesOf(session), now: clock.now() }, wanted, by);
  });
  const listed: { name: string; createdBy: unknown; isBySystem: boolean }[] = (await keys.list(ada.browser)).body.result
    .apiKeys;
  const madeBy = (name: string) => listed.find((key) => key.name === name);
  expect(madeBy('of Ada')).toMatchObject({ createdBy: null, isBySystem: false });
  expect(madeBy('First key')).toMatchObject({ createdBy: null, isBySystem: true });
});
