import { Client } from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';

import { identityProvider, USER_SCHEMA } from '#test/kit/identity_provider.ts';
import { newId } from '#kernel/ids.ts';
import { readUser } from '#modules/provisioning/decide/scim_user.ts';
import { ProvisioningChanges, Room } from '#modules/provisioning/provisioning_unit.ts';
import { createUser } from '#modules/provisioning/users.ts';
import { type World, world } from '#test/kit/world.ts';

/** People whom an identity provider has made, all of them in a group. */
async function givenPeople(w: World, groupId: string, count: number): Promise<void> {
  const { sql } = w.context.db;
  const numbered = `select 'user_' || lpad(n::text, 26, '0') as id, n from generate_series(1, ${count}) as n`;
  await sql.run(`insert into users (id, email, name, created_at, updated_at)
    select id, 'p' || n || '@example.com', 'P' || n, now(), now() from (${numbered}) as p`);
  await sql.run(
    `insert into memberships (org_id, user_id, role, created_at) select $1, id, 'viewer', now() from (${numbered}) as p`,
    [w.orgId],
  );
  await sql.run(
    `insert into scim_users (org_id, user_id, user_name, external_id, profile, is_account_made, created_at, updated_at)
     select $1, id, 'p' || n || '@example.com', 'x' || n, '{}', true, now(), now() from (${numbered}) as p`,
    [w.orgId],
  );
  await sql.run(`insert into scim_group_members (group_id, user_id) select $1, id from (${numbered}) as p`, [groupId]);
}

test('no request asks more queries of hundreds of people than of a few', async () => {
  const w = await world();
  const idp = await identityProvider(w);
  const { teamId } = await w.expectOk('create_team', { name: 'Payments' });
  const groupId = await idp.group('All');
  const ask = vi.spyOn(Client.prototype, 'query');
  onTestFinished(() => ask.mockRestore());
  const counted = async (work: () => Promise<{ status: number }>, status: number): Promise<number> => {
    ask.mockClear();
    const answer = await work();
    // The process counts the others that are alive, whatever is asked.
    const count = ask.mock.calls.filter(([query]) => !JSON.stringify(query).includes('workers')).length;
    expect(answer.status).toBe(status);
    return count;
  };
  const filter = (text: string) => `?filter=${encodeURIComponent(text)}`;
  const count = async (round: string): Promise<Record<string, number>> => {
    const id = await idp.user(`new${round}@example.com`);
    const patchGroup = (op: string) => () =>
      idp.patch(`/Groups/${groupId}`, [{ op, path: 'members', value: [{ value: id }] }]);
    return {
      find: await counted(() => idp.ask('GET', `/Users${filter(`userName eq "new${round}@example.com"`)}`), 200),
      page: await counted(() => idp.ask('GET', '/Users?count=200'), 200),
      create: await counted(() => idp.ask('POST', '/Users', { userName: `other${round}@example.com` }), 201),
      rename: await counted(() => idp.patch(`/Users/${id}`, [{ op: 'replace', path: 'displayName', value: 'N' }]), 200),
      deactivate: await counted(
        () => idp.patch(`/Users/${id}`, [{ op: 'replace', path: 'active', value: false }]),
        200,
      ),
      activate: await counted(() => idp.patch(`/Users/${id}`, [{ op: 'replace', path: 'active', value: true }]), 200),
      join: await counted(patchGroup('add'), 204),
      leave: await counted(patchGroup('remove'), 204),
      group: await counted(() => idp.ask('GET', `/Groups/${groupId}`), 200),
      groups: await counted(() => idp.ask('GET', '/Groups'), 200),
    };
  };
  await idp.patch(`/Groups/${groupId}`, [{ op: 'replace', path: 'displayName', value: 'Everybody' }]);
  await w.context.db.sql.run('update scim_groups set team_id = $1, role = $2 where id = $3', [
    teamId,
    'editor',
    groupId,
  ]);
  // The first changes count how much room there is below the limits.
  await count('warm');
  const few = await count('a');
  await givenPeople(w, groupId, 300);
  expect(await count('b')).toEqual(few);
  expect(Math.max(...Object.values(few))).toBeLessThan(20);
  expect(few).toMatchObject({ create: 7, rename: 9, deactivate: 13, activate: 11 });
});

test('changes that wait for one another commit together, each audited, and one that fails undoes no other', async () => {
  const w = await world();
  const room = { users: new Room(100), groupMembers: new Room(100) };
  const changes = new ProvisioningChanges(w.context.actions, room);
  const actor = { kind: 'api_key', apiKeyId: newId('apikey'), apiKeyName: 'SCIM' } as const;
  const origins: string[] = [];
  const make = async (userName: string): Promise<string> => {
    const origin = { requestId: `req_${userName}`, address: null };
    const state = readUser({ schemas: [USER_SCHEMA], userName: `${userName}@example.com` });
    const made = await changes.make(w.orgId, { actor, via: 'scim', origin }, async (provisioning) => {
      const { userId } = await createUser(provisioning, state);
      return userId;
    });
    origins.push(origin.requestId);
    return made;
  };
  const ask = vi.spyOn(Client.prototype, 'query');
  onTestFinished(() => ask.mockRestore());
  const commits = () => ask.mock.calls.filter(([query]) => JSON.stringify(query).startsWith('"commit')).length;

  const together = await Promise.all(['anna', 'bram', 'cleo', 'dirk'].map(make));
  expect(commits()).toBe(2);
  expect(new Set(together).size).toBe(4);

  const answers = await Promise.allSettled(['eva', 'finn', 'bram', 'gwen'].map(make));
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  expect(answers[2]).toMatchObject({ reason: { message: expect.stringContaining('bram@example.com already') } });

  const audited = await w.context.db.sql.rows<{ target: string; requestId: string }>(
    `select target, request_id as "requestId" from audit_log where org_id = $1 and via = 'scim'`,
    [w.orgId],
  );
  expect(audited.map(({ requestId }) => requestId).toSorted()).toEqual(origins.toSorted());
});
