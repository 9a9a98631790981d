import { expect } from 'vitest';

import { redirectUriOf } from '#modules/sign_in/sign_in_view.ts';
import {
  type Attack,
  AWAY,
  NOT_VERIFIED,
  testAttacks,
  withAnswer,
  withClaims,
  withToken,
} from '#test/auth/openid/attack.ts';
import { connectionTo, vouchFor } from '#test/auth/openid/flow.ts';
import { newKey, openTestProvider, publicJwkOf } from '#test/auth/openid/provider.ts';
import { givenPerson, openBrowser, signedIn } from '#test/kit/programs/browser.ts';

const NOT_BEGUN = /not begun in this browser/;
const OTHER_PROVIDER = /came from another provider/;

const seconds = (): number => Math.floor(Date.now() / 1_000);

const STATE: readonly Attack[] = [
  { name: 'state missing', attempt: withAnswer(({ searchParams }) => searchParams.delete('state')), says: NOT_BEGUN },
  { name: 'state wrong', attempt: withAnswer(({ searchParams }) => searchParams.set('state', 'x')), says: NOT_BEGUN },
  {
    name: 'state sent twice',
    attempt: withAnswer(({ searchParams }) => searchParams.append('state', searchParams.get('state')!)),
    says: NOT_BEGUN,
  },
  {
    name: 'state replayed',
    async attempt(flow) {
      const browser = openBrowser(flow.w);
      const answer = await flow.provider.visit(await flow.begin(browser));
      expect((await flow.comeBack(browser, answer)).status).toBe(303);
      return await flow.comeBack(browser, answer);
    },
    says: NOT_BEGUN,
  },
  {
    name: 'state of another browser, which has begun too',
    async attempt(flow) {
      const [attacker, victim] = [openBrowser(flow.w), openBrowser(flow.w)];
      await flow.begin(victim);
      return await flow.comeBack(victim, await flow.provider.visit(await flow.begin(attacker)));
    },
    says: NOT_BEGUN,
  },
  {
    name: 'login CSRF: the answer of an attacker in a browser that has begun nothing',
    async attempt(flow) {
      const answer = await flow.provider.visit(await flow.begin(openBrowser(flow.w)));
      return await flow.comeBack(openBrowser(flow.w), answer);
    },
    says: NOT_BEGUN,
  },
  {
    name: 'state expired',
    async attempt(flow) {
      const browser = openBrowser(flow.w);
      const answer = await flow.provider.visit(await flow.begin(browser));
      flow.w.clock.advance({ minutes: 11 });
      return await flow.comeBack(browser, answer);
    },
    says: NOT_BEGUN,
  },
  {
    name: 'secret of the browser replaced by one of the attacker',
    async attempt(flow) {
      const browser = openBrowser(flow.w);
      const answer = await flow.provider.visit(await flow.begin(browser));
      browser.attempt = 'tocsin_provider=tocsin_att_0';
      return await flow.comeBack(browser, answer);
    },
    says: NOT_BEGUN,
  },
  {
    name: 'response mode changed to form_post',
    async attempt(flow) {
      const browser = openBrowser(flow.w);
      const { pathname, search } = await flow.provider.visit(await flow.begin(browser));
      const path = pathname.replace('/api/console', '');
      return await browser.ask('POST', path, { text: search.slice(1), origin: flow.provider.issuer });
    },
    says: /Not Found|not_found|forbidden|a change must come from a page/,
  },
  {
    name: 'response mode changed to fragment',
    attempt: withAnswer((answer) => {
      answer.search = '';
    }),
    says: NOT_BEGUN,
  },
];

const CODE: readonly Attack[] = [
  {
    name: 'code replayed under a new state',
    async attempt(flow) {
      const browser = openBrowser(flow.w);
      const used = await flow.provider.visit(await flow.begin(browser));
      await flow.comeBack(browser, used);
      const other = openBrowser(flow.w);
      const answer = await flow.provider.visit(await flow.begin(other));
      answer.searchParams.set('code', used.searchParams.get('code')!);
      return await flow.comeBack(other, answer);
    },
    says: /did not accept/,
  },
  {
    name: 'code of another browser injected (PKCE)',
    async attempt(flow) {
      const victim = await flow.provider.visit(await flow.begin(openBrowser(flow.w)));
      const browser = openBrowser(flow.w);
      const answer = await flow.provider.visit(await flow.begin(browser));
      answer.searchParams.set('code', victim.searchParams.get('code')!);
      return await flow.comeBack(browser, answer);
    },
    says: /did not accept/,
  },
  {
    name: 'PKCE taken out of the request',
    async attempt(flow) {
      const browser = openBrowser(flow.w);
      const address = new URL(await flow.begin(browser));
      address.searchParams.delete('code_challenge');
      address.searchParams.delete('code_challenge_method');
      return await flow.comeBack(browser, await flow.provider.visit(address.href));
    },
    says: /did not sign you in/,
  },
  {
    name: 'PKCE lowered to plain',
    async attempt(flow) {
      const browser = openBrowser(flow.w);
      const address = new URL(await flow.begin(browser));
      address.searchParams.set('code_challenge_method', 'plain');
      return await flow.comeBack(browser, await flow.provider.visit(address.href));
    },
    says: /did not sign you in/,
  },
  { name: 'code missing', attempt: withAnswer((answer) => answer.searchParams.delete('code')), says: NOT_VERIFIED },
  {
    name: 'words of the provider reflected',
    attempt: withAnswer(({ searchParams }) => {
      searchParams.delete('code');
      searchParams.set('error', '<script>alert(1)</script>');
      searchParams.set('error_description', 'call 555-0100 and tell your password');
    }),
    says: /did not sign you in(?![\s\S]*(script>alert|555-0100))/,
  },
];

const ISSUER: readonly Attack[] = [
  {
    name: 'mix-up: the answer names another issuer',
    attempt: withAnswer(({ searchParams }) => searchParams.set('iss', 'https://evil.example')),
    says: OTHER_PROVIDER,
  },
  {
    name: 'mix-up: the answer names no issuer although the provider does',
    attempt: withAnswer(({ searchParams }) => searchParams.delete('iss')),
    says: OTHER_PROVIDER,
  },
  {
    name: "another organization's provider answers for this one",
    async attempt(flow) {
      const { w } = flow;
      const other = await w.given.organization('Mallory');
      const provider = await openTestProvider([redirectUriOf(w.context.config.baseUrl, other.orgId)]);
      const mallory = await givenPerson(w, { role: 'owner', orgId: other.orgId });
      const owner = await signedIn(w, mallory.email);
      const connected = await owner.invoke(other.orgId, 'set_openid_connection', connectionTo(provider));
      expect(connected.status).toBe(200);
      const browser = openBrowser(w);
      const answer = await provider.visit(await flow.begin(browser, { orgId: other.orgId }));
      answer.pathname = answer.pathname.replace(other.orgId, w.orgId);
      return await flow.comeBack(browser, answer);
    },
    says: OTHER_PROVIDER,
  },
  {
    name: "another organization's provider tells an address of a domain that only this one has proven",
    async attempt(flow) {
      const { w } = flow;
      const other = await w.given.organization('Mallory');
      const provider = await openTestProvider([redirectUriOf(w.context.config.baseUrl, other.orgId)]);
      await vouchFor(w, other.orgId, 'mallory.example');
      const mallory = await givenPerson(w, { role: 'owner', orgId: other.orgId });
      const owner = await signedIn(w, mallory.email);
      await owner.invoke(other.orgId, 'set_openid_connection', connectionTo(provider));
      const browser = openBrowser(w);
      return await flow.comeBack(browser, await provider.visit(await flow.begin(browser, { orgId: other.orgId })));
    },
    says: /in no domain that the organization has proven/,
  },
  { name: 'ID token of another issuer', attempt: withClaims({ iss: 'https://evil.example' }), says: NOT_VERIFIED },
  {
    name: 'discovery names another issuer by now',
    async attempt({ provider, w }) {
      provider.change('/.well-known/openid-configuration', (body) => ({ ...body, issuer: 'https://evil.example' }));
      return await openBrowser(w).ask('POST', '/sign-in', { body: { orgId: w.orgId } });
    },
    says: AWAY,
  },
  {
    name: 'discovery has an endpoint without TLS',
    async attempt({ provider, w }) {
      provider.change('/.well-known/openid-configuration', (body) => ({
        ...body,
        token_endpoint: String(body['token_endpoint']).replace('https', 'http'),
      }));
      return await openBrowser(w).ask('POST', '/sign-in', { body: { orgId: w.orgId } });
    },
    says: AWAY,
  },
  {
    name: 'discovery leads to another address',
    async attempt({ provider, w }) {
      provider.replace('/.well-known/openid-configuration', (_request, response) => {
        response.writeHead(302, { location: `${provider.issuer}/internal` }).end();
      });
      const answer = await openBrowser(w).ask('POST', '/sign-in', { body: { orgId: w.orgId } });
      expect(provider.asked).not.toContain('/internal');
      return answer;
    },
    says: AWAY,
  },
  {
    name: 'connection disabled meanwhile',
    async attempt(flow) {
      const browser = openBrowser(flow.w);
      const answer = await flow.provider.visit(await flow.begin(browser));
      await flow.connect({ isEnabled: false });
      return await flow.comeBack(browser, answer);
    },
    says: /no sign-in provider is set up/i,
  },
  {
    name: 'connection changed to another client meanwhile',
    async attempt(flow) {
      const browser = openBrowser(flow.w);
      const answer = await flow.provider.visit(await flow.begin(browser));
      await flow.connect({ clientId: 'another', clientSecret: 'another secret' });
      return await flow.comeBack(browser, answer);
    },
    says: /was changed meanwhile/,
  },
];

const TOKEN: readonly Attack[] = [
  { name: 'nonce wrong', attempt: withClaims({ nonce: 'another' }), says: NOT_VERIFIED },
  { name: 'nonce missing', attempt: withClaims({ nonce: undefined }), says: NOT_VERIFIED },
  {
    name: 'nonce replayed with the token of an earlier sign-in',
    async attempt(flow) {
      let first: string | null = null;
      flow.provider.changeToken((token) => (first ??= flow.provider.sign(token)));
      await flow.signIn();
      return await flow.signIn();
    },
    says: NOT_VERIFIED,
  },
  {
    name: 'algorithm none',
    attempt: withToken((token, { provider }) => {
      const [head = '', body = ''] = provider.sign({ ...token, header: { alg: 'none' } }).split('.');
      return `${head}.${body}.`;
    }),
    says: NOT_VERIFIED,
  },
  {
    name: 'signed by HS256 with the public key',
    attempt: withToken((token, { provider }) =>
      provider.sign({ ...token, header: { alg: 'HS256', kid: 'first' } }, { secret: provider.publicPem }),
    ),
    says: NOT_VERIFIED,
  },
  {
    name: "signed by HS256 with the client's secret",
    attempt: withToken((token, { provider }) =>
      provider.sign({ ...token, header: { alg: 'HS256' } }, { secret: provider.clientSecret }),
    ),
    says: NOT_VERIFIED,
  },
  {
    name: 'discovery allows HS256 alone',
    async attempt({ provider, w }) {
      provider.change('/.well-known/openid-configuration', (body) => ({
        ...body,
        id_token_signing_alg_values_supported: ['HS256', 'none'],
      }));
      return await openBrowser(w).ask('POST', '/sign-in', { body: { orgId: w.orgId } });
    },
    says: AWAY,
  },
  {
    name: 'key id unknown',
    attempt: withToken((token) => ({ ...token, header: { ...token.header, kid: 'another' } })),
    says: NOT_VERIFIED,
  },
  {
    name: 'signed with another key under the known key id',
    attempt: withToken((token, { provider }) => provider.sign(token, { key: newKey() })),
    says: NOT_VERIFIED,
  },
  {
    name: 'key inside the header of the token',
    attempt: withToken((token, { provider }) => {
      const key = newKey();
      return provider.sign({ ...token, header: { alg: 'RS256', jwk: publicJwkOf(key, 'own'), kid: 'own' } }, { key });
    }),
    says: NOT_VERIFIED,
  },
  {
    name: 'signature cut off',
    attempt: withToken((token, { provider }) => `${provider.sign(token).split('.').slice(0, 2).join('.')}.`),
    says: NOT_VERIFIED,
  },
  { name: 'ID token missing', attempt: withoutToken(), says: NOT_VERIFIED },
  { name: 'ID token that is none', attempt: withToken(() => 'not.a.token'), says: NOT_VERIFIED },
  { name: 'audience of another client', attempt: withClaims({ aud: 'another' }), says: NOT_VERIFIED },
  { name: 'several audiences without azp', attempt: withClaims({ aud: ['tocsin', 'another'] }), says: NOT_VERIFIED },
  {
    name: 'several audiences, issued to another client',
    attempt: withClaims({ aud: ['tocsin', 'another'], azp: 'another' }),
    says: NOT_VERIFIED,
  },
  { name: 'azp of another client', attempt: withClaims({ azp: 'another' }), says: NOT_VERIFIED },
  { name: 'expired', attempt: withClaims({ exp: seconds() - 600 }), says: NOT_VERIFIED },
  { name: 'expiry missing', attempt: withClaims({ exp: undefined }), says: NOT_VERIFIED },
  { name: 'issued far ahead', attempt: withClaims({ iat: seconds() + 86_400 }), says: NOT_VERIFIED },
  { name: 'not valid yet', attempt: withClaims({ nbf: seconds() + 3_600 }), says: NOT_VERIFIED },
  { name: 'subject missing', attempt: withClaims({ sub: undefined }), says: NOT_VERIFIED },
  { name: 'subject empty', attempt: withClaims({ sub: '' }), says: NOT_VERIFIED },
  { name: 'subject of a wrong type', attempt: withClaims({ sub: 7 }), says: NOT_VERIFIED },
  {
    name: 'key rotated away: the old one signs no more',
    async attempt(flow) {
      flow.provider.replace('/jwks', (_request, response) => {
        const keys = [publicJwkOf(newKey(), 'second')];
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys }));
      });
      return await flow.signIn();
    },
    says: NOT_VERIFIED,
  },
];

function withoutToken(): Attack['attempt'] {
  return async (flow) => {
    flow.provider.change('/token', ({ id_token: _gone, ...body }) => body);
    return await flow.signIn();
  };
}

await testAttacks({ state: STATE, code: CODE, issuer: ISSUER, 'ID token': TOKEN });
