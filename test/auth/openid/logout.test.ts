import { expect, test } from 'vitest';

import { hurry } from '#test/kit/when.ts';
import { type Flow, logoutPathOf, openFlow, otherProcess, reportLogout } from '#test/auth/openid/flow.ts';
import { newKey, type Token } from '#test/auth/openid/provider.ts';
import { openBrowser } from '#test/kit/programs/browser.ts';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** A token that is taken. */
function rightToken({ provider, w }: Flow): Token {
  const iat = Math.floor(w.clock.now().epochMilliseconds / 1_000);
  return {
    header: { alg: 'RS256', typ: 'logout+jwt', kid: 'first' },
    claims: {
      iss: provider.issuer,
      aud: provider.clientId,
      iat,
      exp: iat + 120,
      jti: 'report-1',
      sub: 'anna',
      events: { [EVENT]: {} },
    },
  };
}

const report = async ({ w }: Flow, token: string) =>
  (await reportLogout(w, logoutPathOf(w), new URLSearchParams({ logout_token: token }).toString())).statusCode;

test('signing out at the provider ends every session that it began, with its streams, and no other', async () => {
  const flow = await openFlow();
  hurry();
  const { w, provider, owner } = flow;
  const cookies = new Map<string, string>();
  const browser = openBrowser(w);
  await flow.comeBack(browser, await provider.visit(await flow.begin(browser), cookies));
  const elsewhere = await flow.signIn();
  provider.account = { ...provider.account, sub: 'bea', email: 'bea@acme.example' };
  const other = await flow.signIn();
  const onOther = openBrowser(await otherProcess(flow));
  onOther.cookie = browser.cookie;
  const streams = [browser, onOther].map((of) => of.ask('GET', `/organizations/${w.orgId}/events`));
  const end = new URL('/session/end', provider.issuer);
  end.searchParams.set('client_id', provider.clientId);
  await provider.signOut(end.href, cookies);
  expect((await browser.get('/session')).status).toBe(401);
  expect((await onOther.get('/session')).status).toBe(401);
  expect((await elsewhere.browser.get('/session')).status).toBe(401);
  expect((await other.browser.get('/session')).status).toBe(200);
  expect((await owner.get('/session')).status).toBe(200);
  await Promise.all(streams);
  const { entries } = (await owner.invoke(w.orgId, 'list_audit_log', { action: 'end_session' })).body.result;
  expect(entries).toMatchObject([{ actor: { kind: 'system' } }, { actor: { kind: 'system' } }]);
});

test('a report counts once, and one of nobody known here changes nothing', async () => {
  const flow = await openFlow();
  const { provider } = flow;
  await flow.signIn();
  const right = rightToken(flow);
  expect(await report(flow, provider.sign(right))).toBe(200);
  const { browser } = await flow.signIn();
  expect(await report(flow, provider.sign(right))).toBe(400);
  const another = { ...right, claims: { ...right.claims, jti: 'report-2', sub: 'nobody' } };
  expect(await report(flow, provider.sign(another))).toBe(200);
  expect((await browser.get('/session')).status).toBe(200);
});

const claiming = (claims: object) => (token: Token) => ({ ...token, claims: { ...token.claims, ...claims } });
const headed = (header: object) => (token: Token) => ({ ...token, header: { ...token.header, ...header } });

const ATTACKS: Readonly<Record<string, (token: Token, flow: Flow) => Token>> = {
  'of another issuer': claiming({ iss: 'https://another.test' }),
  'for another client': claiming({ aud: 'another' }),
  'for several clients, none of which is this one': claiming({ aud: ['another', 'third'] }),
  'without an event': claiming({ events: undefined }),
  'with another event': claiming({ events: { 'http://schemas.openid.net/event/other': {} } }),
  'with an event that is a text': claiming({ events: { [EVENT]: 'yes' } }),
  'with a nonce, as an ID token has': claiming({ nonce: 'n' }),
  'without a time': claiming({ iat: undefined }),
  'that is late': (token) => claiming({ iat: Number(token.claims['iat']) - 301, exp: undefined })(token),
  'of the future': (token) => claiming({ iat: Number(token.claims['iat']) + 60 })(token),
  'that has expired': (token) => claiming({ exp: Number(token.claims['iat']) - 31 })(token),
  'without an id': claiming({ jti: undefined }),
  'that names a session alone': claiming({ sub: undefined, sid: 'session' }),
  'with an extension': headed({ crit: ['b64'], b64: true }),
  'of another type': headed({ typ: 'at+jwt' }),
  'with another algorithm than its signature': headed({ alg: 'PS256' }),
  'with the algorithm of another kind of key': headed({ alg: 'ES256' }),
  'by a key that the provider does not name': headed({ kid: 'other' }),
};

test('a report that is forged, late or foreign is refused and ends nothing', async () => {
  const flow = await openFlow();
  const { provider } = flow;
  const { browser } = await flow.signIn();
  const right = rightToken(flow);
  const statuses: Record<string, number> = {};
  for (const [name, attack] of Object.entries(ATTACKS)) {
    statuses[name] = await report(flow, provider.sign(attack(right, flow)));
    await flow.w.context.db.sql.run('delete from sign_in_limits');
  }
  statuses['by another key'] = await report(flow, provider.sign(right, { key: newKey() }));
  const symmetric = headed({ alg: 'HS256' })(right);
  statuses['by the secret'] = await report(flow, provider.sign(symmetric, { secret: provider.clientSecret }));
  statuses['by the public key'] = await report(flow, provider.sign(symmetric, { secret: provider.publicPem }));
  const [head = '', claims = '', signature = ''] = provider.sign(right).split('.');
  const unsigned = Buffer.from('{"alg":"none"}').toString('base64url');
  statuses['without a signature'] = await report(flow, `${unsigned}.${claims}.`);
  statuses['with an empty signature'] = await report(flow, `${head}.${claims}.`);
  const changed = provider.sign(claiming({ sub: 'bea' })(right)).split('.')[1];
  statuses['with other claims'] = await report(flow, `${head}.${changed}.${signature}`);
  statuses['without a token'] = await report(flow, '');
  expect(new Set(Object.values(statuses)), JSON.stringify(statuses)).toEqual(new Set([400]));
  expect((await browser.get('/session')).status).toBe(200);
  expect(await report(flow, provider.sign(right))).toBe(200);
  expect((await browser.get('/session')).status).toBe(401);
});

test('a report to an organization without the provider is refused, and so is one after too many that failed', async () => {
  const flow = await openFlow();
  const { w, provider } = flow;
  const { browser } = await flow.signIn();
  const body = new URLSearchParams({ logout_token: provider.sign(rightToken(flow)) }).toString();
  const other = await w.given.organization('Other');
  for (const orgId of [other.orgId, 'org_01k9z7a2b3c4d5e6f7g8h9jkmn', '%00']) {
    expect((await reportLogout(w, `/api/console/sign-in/${orgId}/logout`, body)).statusCode).toBe(404);
  }
  const { signInsOfAddressMax: max } = w.context.actions.installation.limits;
  for (let count = 0; count < max; count += 1) await report(flow, 'forged');
  expect(await report(flow, provider.sign(rightToken(flow)))).toBe(429);
  expect((await browser.get('/session')).status).toBe(200);
});
