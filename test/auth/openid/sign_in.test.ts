import { describe, expect, test } from 'vitest';

import { openFlow } from '#test/auth/openid/flow.ts';
import { publicJwkOf, newKey } from '#test/auth/openid/provider.ts';
import { type Browser, openBrowser } from '#test/kit/programs/browser.ts';

test('somebody new signs in through the provider, becomes a member with the default role, and acts', async () => {
  const flow = await openFlow();
  const { w } = flow;
  const browser = openBrowser(w);
  const address = await flow.begin(browser, { email: 'anna@acme.example', next: '/incidents?status=open' });
  expect(address).toContain('code_challenge_method=S256');
  const answer = await flow.comeBack(browser, await flow.provider.visit(address));
  expect(answer).toMatchObject({
    status: 303,
    headers: { location: `${w.context.config.baseUrl}/incidents?status=open` },
  });
  const { body } = await browser.get('/session');
  expect(body.result).toMatchObject({
    user: { email: 'anna@acme.example', name: 'Anna Acme', hasSecondFactor: false },
    organizations: [{ orgId: w.orgId, role: 'responder' }],
  });
  expect(await browser.invoke(w.orgId, 'list_incidents')).toMatchObject({ status: 200 });
  const log = await flow.owner.invoke(w.orgId, 'list_audit_log', { action: 'sign_in' });
  expect(log.body.result.entries[0]).toMatchObject({ actor: { id: body.result.user.userId } });
});

test('the same subject signs in to the same account, also with another address', async () => {
  const flow = await openFlow();
  const first = await flow.signIn();
  const { user } = (await first.browser.get('/session')).body.result;
  flow.provider.account = { ...flow.provider.account, email: 'ANNA.new@acme.example' };
  const second = await flow.signIn();
  expect((await second.browser.get('/session')).body.result.user).toMatchObject({ userId: user.userId });
});

test('claims may come from the userinfo endpoint', async () => {
  const flow = await openFlow({ claimsIn: 'userinfo' });
  const { browser, status } = await flow.signIn();
  expect(status).toBe(303);
  expect((await browser.get('/session')).body.result.user).toMatchObject({ email: 'anna@acme.example' });
  expect(flow.provider.asked).toContain('/me');
});

test('keys that the provider has rotated count at once', async () => {
  const flow = await openFlow();
  expect((await flow.signIn()).status).toBe(303);
  const key = newKey();
  flow.provider.replace('/jwks', (_request, response) => {
    const keys = [publicJwkOf(key, 'second')];
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys }));
  });
  flow.provider.changeToken(({ header, claims }) => {
    return flow.provider.sign({ header: { ...header, kid: 'second' }, claims }, { key });
  });
  expect((await flow.signIn()).status).toBe(303);
});

describe('an invitation of the address', () => {
  const invite = async (flow: Awaited<ReturnType<typeof openFlow>>, role: string) =>
    await flow.owner.invoke(flow.w.orgId, 'create_invitation', { email: 'Anna@acme.example', role });
  const roleIn = async ({ browser }: { browser: Browser }) =>
    (await browser.get('/session')).body.result.organizations[0].role as string;
  const used = async ({ w }: Awaited<ReturnType<typeof openFlow>>) =>
    await w.context.db.sql.rows('select accepted_at is not null as "isUsed" from invitations');

  test('gives its role to somebody new, once', async () => {
    const flow = await openFlow();
    expect((await invite(flow, 'editor')).status).toBe(200);
    expect(await roleIn(await flow.signIn())).toBe('editor');
    expect(await used(flow)).toEqual([{ isUsed: true }]);
  });

  test('that would make an owner stays open', async () => {
    const flow = await openFlow();
    expect((await invite(flow, 'owner')).status).toBe(200);
    expect(await roleIn(await flow.signIn())).toBe('responder');
    expect(await used(flow)).toEqual([{ isUsed: false }]);
  });
});
