import { expect, test } from 'vitest';

import type { Role } from '#kernel/permissions.ts';
import { createApiKey } from '#modules/api_keys/operations/api_keys.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { fileWorld } from '#test/kit/world.ts';

const shared = await fileWorld();

/** A key of the organization, made by somebody with this role. */
async function keyMadeBy(role: Role) {
  const w = await shared.forOrganization();
  const { userId } = await w.given.user({ role });
  const wanted = { name: 'Pipeline', kind: 'organization', permissions: null, expiresAt: null };
  const { secret } = await runOperation(w, createApiKey, memberCaller(w.orgId, userId, role), wanted);
  const { teamId } = await w.expectOk('create_team', { name: 'Payments' });
  const add = async (of: string, phone: string) =>
    await w.call('add_team_member', { teamId, userId: of, phone }, { key: secret });
  return { w, add };
}

test('a key that an admin has made enters no number of an owner', async () => {
  const { w, add } = await keyMadeBy('admin');
  expect(await add(w.owner.userId, '+31600000001')).toMatchObject({ status: 403 });
  const other = await w.given.user({ role: 'admin' });
  expect(await add(other.userId, '+31600000002')).toMatchObject({ status: 200 });
});

test('a key that an owner has made enters those of owners', async () => {
  const { w, add } = await keyMadeBy('owner');
  expect(await add(w.owner.userId, '+31600000003')).toMatchObject({ status: 200 });
});
