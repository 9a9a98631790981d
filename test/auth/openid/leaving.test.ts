import { expect, test } from 'vitest';

import { send } from '#test/contract/mcp_call.ts';
import { type Flow, openFlow, otherProcess } from '#test/auth/openid/flow.ts';
import { hurry } from '#test/kit/when.ts';
import { identityProvider } from '#test/kit/identity_provider.ts';
import { type Browser, openBrowser } from '#test/kit/programs/browser.ts';
import type { World } from '#test/kit/world.ts';

/** Resolves when the product ends the stream of the console, or that of the agent. */
const consoleStream = (browser: Browser, { orgId }: World) => browser.ask('GET', `/organizations/${orgId}/events`);
const agentStream = (w: World, key: string) =>
  send(w, 'subscriptions/listen', { notifications: { toolsListChanged: true } }, { key });

async function openEverything(flow: Flow, second: World) {
  const { browser } = await flow.signIn();
  const elsewhere = openBrowser(second);
  elsewhere.cookie = browser.cookie;
  const { userId } = (await browser.get('/session')).body.result.user;
  const key = await flow.w.given.apiKey({ userId });
  const ended = Promise.all([
    consoleStream(browser, flow.w),
    consoleStream(elsewhere, flow.w),
    agentStream(flow.w, key),
    agentStream(second, key),
  ]);
  const ways = {
    console: async () => (await browser.invoke(flow.w.orgId, 'list_incidents')).status,
    consoleElsewhere: async () => (await elsewhere.invoke(flow.w.orgId, 'list_incidents')).status,
    rest: async () => (await flow.w.call('list_incidents', {}, { key })).status,
    restElsewhere: async () =>
      (
        await second.app.inject({
          method: 'POST',
          url: '/api/rest/actions/list_incidents',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          payload: '{}',
        })
      ).statusCode,
    mcp: async () => (await send(flow.w, 'tools/list', {}, { key })).status,
    mcpElsewhere: async () => (await send(second, 'tools/list', {}, { key })).status,
  };
  const statuses = async () =>
    Object.fromEntries(await Promise.all(Object.entries(ways).map(async ([way, ask]) => [way, await ask()] as const)));
  expect(new Set(Object.values(await statuses()))).toEqual(new Set([200]));
  return { userId, ended, statuses };
}

/** Ways to leave, and the answer of the console behind each: whoever is a member nowhere has no session any more. */
const LEAVING: readonly [way: string, leave: (flow: Flow, userId: string) => Promise<number>, inConsole: number][] = [
  [
    'removed by an owner',
    async ({ owner, w }, userId) => (await owner.invoke(w.orgId, 'remove_member', { userId })).status,
    404,
  ],
  [
    'deactivated by the identity provider',
    async ({ w }, userId) => {
      const idp = await identityProvider(w);
      return (await idp.patch(`/Users/${userId}`, [{ op: 'replace', path: 'active', value: false }])).status;
    },
    401,
  ],
  [
    'deleted by the identity provider',
    async ({ w }, userId) => (await (await identityProvider(w)).ask('DELETE', `/Users/${userId}`)).status,
    401,
  ],
];

test('a member who is removed, deactivated or deleted is out on every process at once, and their streams end', async () => {
  const flow = await openFlow();
  hurry();
  const second = await otherProcess(flow);
  const { account } = flow.provider;
  for (const [way, leave, inConsole] of LEAVING) {
    flow.provider.account = { ...account, sub: way, email: `${way.split(' ')[0]}@acme.example` };
    const { userId, ended, statuses } = await openEverything(flow, second);
    expect(await leave(flow, userId), way).toBeLessThan(300);
    const elsewhere = { rest: 401, restElsewhere: 401, mcp: 401, mcpElsewhere: 401 };
    expect(await statuses(), way).toEqual({ console: inConsole, consoleElsewhere: inConsole, ...elsewhere });
    await ended;
  }
});

test('networks count on every process at once, also for open streams, and save nobody who would be locked out', async () => {
  const flow = await openFlow();
  hurry();
  const { w, owner } = flow;
  const { ended, statuses } = await openEverything(flow, await otherProcess(flow));
  const lists = { keyNetworks: ['198.51.100.0/24'], sessionNetworks: ['198.51.100.0/24'] };
  const locked = await owner.invoke(w.orgId, 'set_address_lists', lists);
  expect(locked).toMatchObject({ status: 409, body: { detail: expect.stringContaining('lock yourself out') } });
  const elsewhere = openBrowser(w, '198.51.100.7');
  elsewhere.cookie = owner.cookie;
  expect((await elsewhere.invoke(w.orgId, 'set_address_lists', lists)).status).toBe(200);
  const refused = await statuses();
  expect(new Set(Object.values(refused))).toEqual(new Set([403]));
  expect((await elsewhere.invoke(w.orgId, 'list_incidents')).status).toBe(200);
  expect(await w.call('list_incidents')).toMatchObject({
    status: 403,
    body: { detail: expect.stringContaining('admits only addresses of its list') },
  });
  await ended;
});

test('owners see where members are signed in and end it, but no session of another provider', async () => {
  const flow = await openFlow();
  const { w, owner } = flow;
  const { browser } = await flow.signIn();
  const { userId } = (await browser.get('/session')).body.result.user;
  const list = async () => (await owner.invoke(w.orgId, 'list_organization_sessions', { userId })).body.result;
  const { sessions, total } = await list();
  expect([total, sessions]).toMatchObject([1, [{ by: 'provider', address: '192.0.2.1', user: { userId } }]]);
  const other = await w.given.organization('Other');
  await w.context.db.sql.run('update sessions set provider_org_id = $1 where user_id = $2', [other.orgId, userId]);
  expect((await list()).total).toBe(0);
  expect(
    await owner.invoke(w.orgId, 'end_member_sessions', { userId, sessionId: sessions[0].sessionId }),
  ).toMatchObject({ status: 404 });
  await w.context.db.sql.run('update sessions set provider_org_id = $1 where user_id = $2', [w.orgId, userId]);
  const ended = await owner.invoke(w.orgId, 'end_member_sessions', { userId });
  expect(ended.body.result).toMatchObject({ endedSessions: 1 });
  expect((await browser.get('/session')).status).toBe(401);
  const stranger = await w.given.user({ orgId: other.orgId });
  expect((await owner.invoke(w.orgId, 'end_member_sessions', { userId: stranger.userId })).status).toBe(404);
});
