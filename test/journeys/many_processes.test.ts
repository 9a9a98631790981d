import { expect, inject, test } from 'vitest';

import { givenPerson, openBrowser, signedIn } from '#test/kit/programs/browser.ts';
import { manyProcesses } from '#test/kit/many_processes.ts';
import { sweep } from '#test/kit/properties.ts';
import { type World, world } from '#test/kit/world.ts';

const PROCESSES = 2;

const postPoints = async ({ app }: World, ingestionKey: string, hosts: readonly string[]) =>
  await app.inject({
    method: 'POST',
    url: '/api/ingest/metrics',
    headers: { authorization: `Bearer ${ingestionKey}` },
    payload: { points: hosts.map((host) => ({ name: 'cpu', value: 1, labels: { host } })) },
  });

const postException = async ({ app }: World, dsn: string) => {
  const { username, pathname } = new URL(dsn);
  const url = `/api${pathname}/store/?sentry_key=${username}`;
  return await app.inject({ method: 'POST', url, payload: { message: 'beans' } });
};

test.each(
  sweep(
    [
      ['with its queue in PostgreSQL', null],
      ['with its queue in Redis', inject('redisUrl')],
    ] as const,
    2,
  ),
)('of several API processes none lets in a revoked key or a removed member, %s', async (_, redisUrl) => {
  const w = await world({ jobs: 'real queue', settings: redisUrl === null ? {} : { redisUrl } });
  const processes = await manyProcesses(w, PROCESSES);
  const editor = await givenPerson(w, { role: 'editor', name: 'Eva' });
  const browser = await signedIn(w, editor.email);
  const ownKey = await w.given.apiKey({ userId: editor.userId });
  const apiKey = await w.given.apiKey();
  const { serviceId, ingestionKey, dsn } = await w.given.service();
  const callAll = (key: string) =>
    Promise.all(processes.map(async ({ call }) => (await call('list_services', {}, { key })).status));
  const sendAll = () =>
    Promise.all(
      processes.map(async (process) => [
        (await postPoints(process, ingestionKey, ['a'])).statusCode,
        (await postException(process, dsn)).statusCode,
      ]),
    );
  const openAll = () =>
    Promise.all(
      processes.map(async (process) => {
        const elsewhere = openBrowser(process);
        elsewhere.cookie = browser.cookie;
        return (await elsewhere.invoke(w.orgId, 'list_services')).status;
      }),
    );
  const all = <Value>(value: Value) => processes.map(() => value);
  expect(await callAll(apiKey)).toEqual(all(200));
  expect(await callAll(ownKey)).toEqual(all(200));
  expect(await sendAll()).toEqual(all([202, 200]));
  expect(await openAll()).toEqual(all(200));

  // Through one process; the clock stands still, so nothing helps but the change itself.
  const owner = await givenPerson(w, { role: 'owner', name: 'Otto' });
  const office = await signedIn(processes[1]!, owner.email);
  expect((await office.invoke(w.orgId, 'remove_member', { userId: editor.userId })).status).toBe(200);
  await w.context.db.sql.run(`update api_keys set revoked_at = $1 where user_id is null`, [w.clock.now().toString()]);
  expect(await callAll(apiKey)).toEqual(all(401));
  expect(await callAll(ownKey)).toEqual(all(401));
  expect(await openAll()).toEqual(all(404));

  expect((await office.invoke(w.orgId, 'rotate_ingest_key', { serviceId })).status).toBe(200);
  w.clock.advance({ seconds: 1 });
  expect(await sendAll()).toEqual(all([401, 401]));
});
