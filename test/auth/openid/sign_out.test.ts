import { expect, test } from 'vitest';

import { openFlow } from '#test/auth/openid/flow.ts';
import { openBrowser } from '#test/kit/programs/browser.ts';

const isQuestion = (path: string) => path.startsWith('/interaction/');

test('signing out here signs out at the provider, which asks the person again', async () => {
  const flow = await openFlow();
  const { w, provider } = flow;
  const { baseUrl } = w.context.config;
  const cookies = new Map<string, string>();
  const enter = async () => {
    const browser = openBrowser(w);
    const asked = provider.asked.length;
    const answer = await provider.visit(await flow.begin(browser), cookies);
    expect((await flow.comeBack(browser, answer)).status).toBe(303);
    return { browser, wasAsked: provider.asked.slice(asked).some(isQuestion) };
  };
  const first = await enter();
  expect([first.wasAsked, (await enter()).wasAsked]).toEqual([true, false]);
  const { body } = await first.browser.ask('DELETE', '/session');
  const address = new URL(body.result.redirectTo);
  expect(address.origin).toBe(provider.issuer);
  expect(Object.fromEntries(address.searchParams)).toEqual({
    client_id: provider.clientId,
    post_logout_redirect_uri: `${baseUrl}/login`,
  });
  expect((await first.browser.get('/session')).status).toBe(401);
  const back = await provider.signOut(address.href, cookies);
  expect(`${back.origin}${back.pathname}`).toBe(`${baseUrl}/login`);
  expect((await enter()).wasAsked).toBe(true);
});

test.each<[string, (metadata: Record<string, unknown>) => Record<string, unknown>]>([
  ['offers no address for it', ({ end_session_endpoint: _address, ...rest }) => rest],
  ['names an address that is not https', (metadata) => ({ ...metadata, end_session_endpoint: 'http://idp.test/out' })],
  ['names no address', (metadata) => ({ ...metadata, end_session_endpoint: 'javascript:alert(1)' })],
  ['is another one by now', (metadata) => ({ ...metadata, issuer: 'https://another.test' })],
])('signing out is done here alone when the provider %s', async (_case, change) => {
  const flow = await openFlow();
  const { browser } = await flow.signIn();
  flow.provider.change('/.well-known/openid-configuration', change);
  flow.w.clock.advance({ minutes: 2 });
  const { status, body } = await browser.ask('DELETE', '/session');
  expect([status, body.result]).toEqual([200, { deleted: true, redirectTo: null }]);
  expect((await browser.get('/session')).status).toBe(401);
});

test('signing out is done here alone after a password, and when the provider is away or disconnected', async () => {
  const flow = await openFlow();
  const { w, provider, owner } = flow;
  const [first, second] = [await flow.signIn(), await flow.signIn()];
  const leave = async ({ browser }: { browser: ReturnType<typeof openBrowser> }) =>
    (await browser.ask('DELETE', '/session')).body.result;
  provider.replace('/.well-known/openid-configuration', (_request, response) => void response.writeHead(503).end());
  w.clock.advance({ minutes: 2 });
  expect(await leave(first)).toEqual({ deleted: true, redirectTo: null });
  await w.context.db.sql.run('update openid_connections set is_enabled = false where org_id = $1', [w.orgId]);
  expect(await leave(second)).toEqual({ deleted: true, redirectTo: null });
  expect(await leave({ browser: owner })).toEqual({ deleted: true, redirectTo: null });
});
