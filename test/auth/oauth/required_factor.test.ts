import { expect, test } from 'vitest';

import { storesOf } from '#modules/stores.ts';
import { listeningWorldOfTest } from '#test/auth/oauth/listening_world.ts';
import { connected, rawApp } from '#test/auth/oauth/raw_app.ts';
import { send } from '#test/contract/mcp_call.ts';

test('where a second factor is required, an admin without one neither connects an app nor goes on with one from before', async () => {
  const s = await listeningWorldOfTest();
  const ada = await s.person({ role: 'admin' });
  const { tokens } = await connected(s, ada, { access: 'changes' });
  const listed = () => send(s, 'tools/list', {}, { key: tokens.access_token });
  const key = await s.given.apiKey({ userId: ada.userId });
  const acting = () => s.call('list_services', {}, { key });
  const set = (required: boolean) => storesOf(s.context.db.session()).people.setSecondFactorRequired(s.orgId, required);
  expect([(await listed()).status, (await acting()).status]).toEqual([200, 200]);
  await set(true);
  expect((await acting()).body).toMatchObject({ status: 403, code: 'second_factor_required' });
  const refused = await listed();
  expect([refused.status, refused.body.error.data.code]).toEqual([403, 'second_factor_required']);
  const app = await rawApp(s);
  const uid = await ada.open(app.authorizationUrl());
  const connecting = await ada.ask('POST', `/connect/${uid}`, { orgId: s.orgId, access: 'read_only' });
  expect(connecting.body).toMatchObject({ status: 403, code: 'second_factor_required' });
  const rosa = await s.person({ role: 'responder' });
  expect((await connected(s, rosa)).tokens.access_token).toBeTypeOf('string');
  await s.context.db.sql.run(
    `insert into authenticator_apps (user_id, secret_sealed, confirmed_at) values ($1, '', now())`,
    [ada.userId],
  );
  expect([(await listed()).status, (await acting()).status], 'with a factor they go on').toEqual([200, 200]);
  const before = await ada.ask('POST', `/connect/${uid}`, { orgId: s.orgId, access: 'read_only' });
  expect(before.body, 'the session has not shown it').toMatchObject({ status: 403, code: 'step_up_required' });
});
