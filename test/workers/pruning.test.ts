import { expect, test } from 'vitest';

import { givenPerson, givePassword, openBrowser, signedIn } from '#test/kit/programs/browser.ts';
import { world } from '#test/kit/world.ts';
import { pruneSignIns } from '#workers/pruning.ts';
import { workerRuntime } from '#workers/worker_role.ts';

test('expired sessions, invitations and sign-in limits are deleted, and nothing else', async () => {
  const w = await world();
  await givePassword(w, w.owner.userId);
  const olga = await signedIn(w, w.owner.email);
  const { email } = await givenPerson(w);
  await signedIn(w, email);
  await openBrowser(w, '203.0.113.1').post('/session', { email, password: 'something else' });
  await olga.invoke(w.orgId, 'create_invitation', { email: 'nora@example.com', role: 'viewer' });
  const left = async () => {
    await pruneSignIns(workerRuntime(w.context));
    const tables = ['sessions', 'sign_in_limits', 'invitations'];
    const counts = tables.map((table) => `(select count(*)::int from ${table}) as ${table}`).join(', ');
    return await w.context.db.sql.row(`select ${counts}`);
  };
  expect(await left()).toMatchObject({ sessions: 2, invitations: 1 });
  w.clock.advance({ hours: 13 * 24 });
  expect((await olga.get('/session')).status).toBe(200);
  w.clock.advance({ hours: 2 * 24 });
  expect(await left()).toEqual({ sessions: 1, sign_in_limits: 0, invitations: 1 });
  w.clock.advance({ hours: 30 * 24 });
  expect(await left()).toEqual({ sessions: 0, sign_in_limits: 0, invitations: 0 });
});
