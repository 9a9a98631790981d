import { expect, test } from 'vitest';

import { ACTIONS } from '#actions/registry.ts';
import { ROLE_PERMISSIONS, ROLES, type Role } from '#kernel/permissions.ts';
import { storesOf } from '#modules/stores.ts';
import { call, ERAS, send } from '#test/contract/mcp_call.ts';
import { connected } from '#test/auth/oauth/raw_app.ts';
import { fileListeningWorld } from '#test/auth/oauth/listening_world.ts';

const tokens = new Map<string, string>();
const s = await fileListeningWorld();
const anna = await s.person({ role: 'owner' });
for (const access of ['read_only', 'changes']) {
  tokens.set(access, (await connected(s, anna, { access })).tokens.access_token);
}

const CASES = ROLES.flatMap((role) => (['read_only', 'changes'] as const).map((access) => [role, access] as const));

/**
 * Returns the expected outcome of a call with an invalid body: only callers with the permission are told that it is.
 */
function outcomeFor(role: Role, access: string, { permission, effect }: (typeof ACTIONS)[number]): string {
  if (!ROLE_PERMISSIONS[role].includes(permission)) return 'forbidden';
  return access === 'changes' || effect === 'read' ? 'invalid_input' : 'insufficient_scope';
}

test.each(CASES)(
  '%s with %s gets every action, refusal and audit row that role and approval make',
  async (role, access) => {
    await storesOf(s.context.db.session()).people.setMembership(s.orgId, anna.userId, role, s.clock.now());
    const key = tokens.get(access)!;
    const before = await refusals();
    const allowed: string[] = [];
    let refused = 0;
    for (const [index, action] of ACTIONS.entries()) {
      const outcome = outcomeFor(role, access, action);
      const { status, body, headers } = await call(s, action.name, { unlisted: true }, { key, era: ERAS[index % 2]! });
      const isChallenged = outcome === 'insufficient_scope';
      const problem = isChallenged ? body.error.data : body._meta.problem;
      expect([status, problem.code], action.name).toEqual([isChallenged ? 403 : 200, outcome]);
      expect('www-authenticate' in headers).toBe(isChallenged);
      if (outcome === 'invalid_input') allowed.push(action.name);
      else if (action.effect !== 'read') refused += 1;
    }
    const { tools } = (await send(s, 'tools/list', {}, { key })).body.result;
    expect(tools.map(({ name }: { name: string }) => name)).toEqual(allowed);
    expect((await refusals()) - before).toBe(refused);
  },
);

async function refusals(): Promise<number> {
  const row = await s.context.db.sql.row<{ n: number }>(
    `select count(*)::int as n from audit_log where result = 'forbidden' and via = 'mcp'
     and actor->'connection'->>'clientName' = 'Ada'`,
  );
  return row!.n;
}

test('a connection that may only read sees no key with which data can be sent, in no result; one that may change does', async () => {
  await storesOf(s.context.db.session()).people.setMembership(s.orgId, anna.userId, 'owner', s.clock.now());
  const { serviceId, ingestionKey, dsn } = await s.given.service();
  const secrets = [ingestionKey, new URL(dsn).username];
  const shownTo = async (key: string): Promise<string[]> => {
    const results = ACTIONS.filter(({ effect }) => effect === 'read').map(({ name }) =>
      call(s, name, name === 'get_service' ? { serviceId } : {}, { key }),
    );
    const texts = (await Promise.all(results)).map(({ body }) => JSON.stringify(body));
    return texts.flatMap((text) => secrets.filter((secret) => text.includes(secret)));
  };
  expect(await shownTo(tokens.get('read_only')!)).toEqual([]);
  const { body } = await call(s, 'get_service', { serviceId }, { key: tokens.get('read_only')! });
  expect(body.structuredContent.result).toMatchObject({
    credentials: 'masked',
    ingestionKey: 'tocsin_ing_********',
    dsn: dsn.replace(/\/\/\w+@/, '//********@'),
  });
  // Text and structured content hold each of them once.
  expect(await shownTo(tokens.get('changes')!)).toEqual(secrets);

  await storesOf(s.context.db.session()).people.setMembership(s.orgId, anna.userId, 'viewer', s.clock.now());
  expect(await shownTo(tokens.get('changes')!)).toEqual([]);
});
