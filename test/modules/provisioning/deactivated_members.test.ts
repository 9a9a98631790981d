import { expect, test } from 'vitest';

import { identityProvider } from '#test/kit/identity_provider.ts';
import { givenPerson, signedIn } from '#test/kit/programs/browser.ts';
import { world } from '#test/kit/world.ts';

test.each(['they leave it', 'it is deleted', 'it is mapped to nothing'])(
  'whoever is deactivated comes back without what a group gave them once %s',
  async (what) => {
    const w = await world();
    const idp = await identityProvider(w);
    const owner = await signedIn(w, (await givenPerson(w, { role: 'owner' })).email);
    const [anna, bram] = [await idp.user('anna@example.com'), await idp.user('bram@example.com')];
    const { teamId } = await w.expectOk('create_team', { name: 'Payments' });
    const [groupId, other] = [await idp.group('SRE', [anna, bram]), await idp.group('Payments', [bram])];
    const map = async (mapping: object) =>
      expect((await owner.invoke(w.orgId, 'map_provisioned_group', mapping)).status).toBe(200);
    await map({ groupId, teamId, role: 'admin' });
    await map({ groupId: other, teamId, role: 'responder' });
    const setActive = async (value: boolean) => {
      for (const id of [anna, bram]) await idp.patch(`/Users/${id}`, [{ op: 'replace', path: 'active', value }]);
    };
    await setActive(false);
    if (what === 'they leave it')
      await idp.patch(`/Groups/${groupId}`, [{ op: 'replace', path: 'members', value: [] }]);
    else if (what === 'it is deleted') await idp.ask('DELETE', `/Groups/${groupId}`);
    else await map({ groupId, teamId: null, role: null });
    await setActive(true);
    const { members } = (await owner.invoke(w.orgId, 'get_team', { teamId })).body.result;
    expect(members.map(({ userId }: { userId: string }) => userId)).toEqual([bram]);
    const roles = w.context.db.sql.rows('select role from memberships where user_id = any($1) order by user_id', [
      [anna, bram],
    ]);
    expect(await roles).toEqual([{ role: 'viewer' }, { role: 'responder' }]);
  },
);
