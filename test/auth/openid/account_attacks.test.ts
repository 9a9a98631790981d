import { expect, onTestFinished } from 'vitest';

import { type Attack, AWAY, NOT_VERIFIED, testAttacks, withAccount, withClaims } from '#test/auth/openid/attack.ts';
import { DOMAIN, type Flow } from '#test/auth/openid/flow.ts';
import { type Browser, givenPerson, openBrowser } from '#test/kit/programs/browser.ts';

const UNREADABLE = /letters that look like others/;

/** Text of a provider that sends without end. */
const huge = 'x'.repeat(1_000_000);

const withMail = (email: string) => withAccount({ email });

const ADDRESS: readonly Attack[] = [
  { name: 'address not verified', attempt: withAccount({ email_verified: false }), says: /has not verified your mail/ },
  {
    name: 'nothing said about the address',
    attempt: withAccount({ email_verified: undefined }),
    says: /has not verified your mail/,
  },
  { name: 'verified as a text', attempt: withAccount({ email_verified: 'true' }), says: /has not verified your mail/ },
  {
    name: "Microsoft's word about the domain from somebody else",
    attempt: withAccount({ email_verified: undefined, xms_edov: true }),
    says: /has not verified your mail/,
  },
  { name: 'address missing', attempt: withAccount({ email: undefined }), says: /tells no mail address/ },
  { name: 'address of a wrong type', attempt: withClaims({ email: ['anna@acme.example'] }), says: /tells no mail/ },
  { name: 'address of a foreign domain', attempt: withMail('anna@evil.example'), says: /in no domain/ },
  { name: 'address of a domain below a proven one', attempt: withMail('anna@it.acme.example'), says: /in no domain/ },
  { name: 'address that ends like a proven domain', attempt: withMail('anna@evilacme.example'), says: /in no domain/ },
  { name: 'address with two at signs', attempt: withMail('anna@acme.example@evil.example'), says: UNREADABLE },
  {
    name: 'domain with a letter that looks like another',
    attempt: withMail('anna@\u0430cme.example'),
    says: UNREADABLE,
  },
  { name: 'name with a letter that looks like another', attempt: withMail('\u0430nna@acme.example'), says: UNREADABLE },
  { name: 'letter that becomes ASCII in lower case', attempt: withMail('anna@acme.example\u212a'), says: UNREADABLE },
  { name: 'line end in the address', attempt: withMail('anna@acme.example\r\nbcc'), says: UNREADABLE },
  {
    name: 'domain not proven any more',
    async attempt(flow) {
      const removed = await flow.owner.invoke(flow.w.orgId, 'remove_sign_in_domain', { domain: DOMAIN });
      expect(removed.status).toBe(200);
      return await flow.signIn();
    },
    says: /in no domain/,
  },
  {
    name: 'domain added and not proven',
    async attempt(flow) {
      await flow.owner.invoke(flow.w.orgId, 'add_sign_in_domain', { domain: 'later.example' });
      return await withMail('anna@later.example')(flow);
    },
    says: /in no domain/,
  },
];

const ACCOUNT: readonly Attack[] = [
  {
    name: "an owner's account by its address alone",
    async attempt(flow) {
      await flow.member('owner', 'anna@acme.example');
      return await flow.signIn();
    },
    says: /an owner links the provider once/i,
  },
  {
    name: "an owner's account by its address in upper case",
    async attempt(flow) {
      await flow.member('owner', 'anna@acme.example');
      return await withMail('ANNA@ACME.EXAMPLE')(flow);
    },
    says: /an owner links the provider once/i,
  },
  {
    name: 'the account of somebody who is no member',
    async attempt(flow) {
      const { orgId } = await flow.w.given.organization('Other');
      const { userId } = await givenPerson(flow.w, { orgId });
      await flow.w.context.db.sql.run('update users set email = $1 where id = $2', ['anna@acme.example', userId]);
      return await flow.signIn();
    },
    says: /is no member of this organization/,
  },
  {
    name: 'the address of a member given to somebody else at the provider',
    async attempt(flow) {
      await flow.signIn();
      return await withAccount({ sub: 'another anna' })(flow);
    },
    says: /somebody else at the provider/i,
  },
  {
    name: 'a member who was removed',
    async attempt(flow) {
      const { browser } = await flow.signIn();
      await remove(flow, browser);
      return await flow.signIn();
    },
    says: /no longer a member/,
  },
  {
    name: 'a member who was removed, as another subject',
    async attempt(flow) {
      const { browser } = await flow.signIn();
      await remove(flow, browser);
      return await withAccount({ sub: 'another anna' })(flow);
    },
    says: /is no member of this organization/,
  },
  {
    name: 'a member who is removed while they are at the provider',
    async attempt(flow) {
      const { browser } = await flow.signIn();
      const answer = await flow.provider.visit(await flow.begin(browser));
      await remove(flow, browser);
      return await flow.comeBack(browser, answer);
    },
    says: /no longer a member/,
  },
  {
    name: 'somebody new where signing in makes no member',
    async attempt(flow) {
      await flow.connect({ defaultRole: null });
      return await flow.signIn();
    },
    says: /admits nobody new/,
  },
  ...[{ admin: true }, 7, true, ['ops', 7]].map((groups) => ({
    name: `claim of roles of a wrong type: ${JSON.stringify(groups)}`,
    async attempt(flow: Flow) {
      await flow.connect({ roleClaim: 'groups', roleMap: [{ value: 'ops', role: 'admin' }] });
      return await withClaims({ groups })(flow);
    },
    says: /in a form that cannot be read/,
  })),
  {
    name: 'claim of roles that asks for owner where nothing maps to it',
    async attempt(flow) {
      await flow.connect({ defaultRole: null, roleClaim: 'groups', roleMap: [{ value: 'ops', role: 'admin' }] });
      return await withClaims({ groups: ['owner', 'OPS', 'ops '] })(flow);
    },
    says: /none of your groups/i,
  },
];

const BOUNDS: readonly Attack[] = [
  ...['/token', '/jwks', '/me'].map((path) => ({
    name: `huge answer at ${path}`,
    async attempt(flow: Flow) {
      flow.provider.replace(path, (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: [], huge }));
      });
      if (path === '/me')
        flow.provider.changeToken(({ header, claims: { email: _gone, ...claims } }) => ({ header, claims }));
      return await flow.signIn();
    },
    says: AWAY,
  })),
  {
    name: 'huge discovery document',
    async attempt({ provider, w }) {
      provider.change('/.well-known/openid-configuration', (body) => ({ ...body, huge }));
      return await openBrowser(w).ask('POST', '/sign-in', { body: { orgId: w.orgId } });
    },
    says: AWAY,
  },
  {
    name: 'provider that answers with a page',
    async attempt(flow) {
      flow.provider.replace('/token', (_request, response) => void response.writeHead(200).end('<html>'));
      return await flow.signIn();
    },
    says: NOT_VERIFIED,
  },
  {
    name: 'provider that breaks the connection',
    async attempt(flow) {
      flow.provider.replace('/token', (request) => void request.socket.destroy());
      return await flow.signIn();
    },
    says: AWAY,
  },
  {
    name: 'provider that never answers',
    async attempt(flow) {
      flow.provider.replace('/token', () => {});
      onTestFinished(flow.w.clock.beImpatient(0.05));
      return await flow.signIn();
    },
    says: AWAY,
  },
  {
    name: 'subject changed at the userinfo endpoint',
    async attempt(flow) {
      flow.provider.changeToken(({ header, claims: { email: _gone, ...claims } }) => ({ header, claims }));
      flow.provider.change('/me', (body) => ({ ...body, sub: 'another' }));
      return await flow.signIn();
    },
    says: NOT_VERIFIED,
  },
  {
    name: 'address of the userinfo endpoint with the word of the ID token about another',
    async attempt(flow) {
      flow.provider.changeToken(({ header, claims: { email: _gone, ...claims } }) => ({
        header,
        claims: { ...claims, email_verified: true },
      }));
      flow.provider.change('/me', ({ email_verified: _unsaid, ...body }) => body);
      return await flow.signIn();
    },
    says: /has not verified your mail/,
  },
];

async function remove({ owner, w }: Flow, browser: Browser): Promise<void> {
  const { user } = (await browser.get('/session')).body.result;
  expect(await owner.invoke(w.orgId, 'remove_member', { userId: user.userId })).toMatchObject({ status: 200 });
}

await testAttacks({ address: ADDRESS, account: ACCOUNT, bounds: BOUNDS });
