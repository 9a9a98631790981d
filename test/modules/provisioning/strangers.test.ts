import { expect, test } from 'vitest';

import { asId } from '#kernel/ids.ts';
import { identityProvider, USER_SCHEMA } from '#test/kit/identity_provider.ts';
import { storesOf } from '#modules/stores.ts';
import { world } from '#test/kit/world.ts';

const SET_UP = [
  [
    'a browser',
    `push_subscriptions values ('subscription_1', $1, 'https://push.example/1', 'p', 'a', 'Laptop', now())`,
  ],
  ['a confirmed number', `confirmed_numbers (user_id, phone, confirmed_at) values ($1, '+31612345678', now())`],
  ['a PIN for replies', `reply_pins (user_id, pin_hash) values ($1, 'x')`],
  ['a second factor', `passkeys values ('key', $1, 'Key', '', 0, '[]', now(), null)`],
] as const;

test.each(SET_UP)(
  'provisioning makes nobody a member who has got %s before they proved their address',
  async (_what, row) => {
    const w = await world();
    const theirs = await identityProvider(w);
    const ours = await identityProvider(await w.forOrganization());
    const userId = await theirs.user('mallory@a.example');
    await w.context.db.sql.run(`insert into ${row}`, [userId]);
    const email = 'victim@b.example';
    const emails = [{ value: email, primary: true }];
    await theirs.patch(`/Users/${userId}`, [{ op: 'replace', path: 'emails', value: emails }]);
    expect(await ours.ask('POST', '/Users', { schemas: [USER_SCHEMA], userName: email, emails })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('never proven') },
    });
  },
);

test('a browser that is subscribed for another organization alone keeps nobody out', async () => {
  const w = await world();
  const theirs = await identityProvider(w);
  const ours = await identityProvider(await w.forOrganization());
  const userId = await theirs.user('anna@b.example');
  await w.context.db.sql.run(
    `insert into push_subscriptions values ('subscription_1', $1, 'https://push.example/1', 'p', 'a', 'Laptop', now(), $2)`,
    [userId, [w.orgId]],
  );
  expect(await ours.user('anna@b.example')).toBe(userId);
});

test('somebody whom no organization knows any more is made again, without what was set up before', async () => {
  const w = await world();
  const provider = await identityProvider(w);
  const email = 'anna@a.example';
  const userId = await provider.user(email);
  for (const [, row] of SET_UP) await w.context.db.sql.run(`insert into ${row}`, [userId]);
  await provider.ask('DELETE', `/Users/${userId}`);
  expect(await provider.user(email)).toBe(userId);
  expect(await storesOf(w.context.db.session()).addressProofs.hasReach(asId('user', userId))).toBe(false);
  const rows = await w.context.db.sql.rows(`select after from audit_log where action = 'provision_member'`);
  expect(rows).toMatchObject([{ after: { active: true, endedSetUp: true } }]);
});
