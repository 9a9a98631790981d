import { expect, onTestFinished } from 'vitest';

import type { Id } from '#kernel/ids.ts';
import type { Role } from '#kernel/permissions.ts';
import { compose } from '#entry/compose.ts';
import { buildApp } from '#entry/http/app.ts';
import { silentLog } from '#kernel/log.ts';
import { drivenQueue } from '#test/kit/driven_queue.ts';
import { operatorIn } from '#actions/operator.ts';
import { runAction } from '#actions/run_action.ts';
import { newId } from '#kernel/ids.ts';
import { addSignInDomain } from '#modules/sign_in/operations/domains.ts';
import { redirectUriOf, signOutUriOf } from '#modules/sign_in/sign_in_view.ts';
import { openTestProvider, type TestProvider } from '#test/auth/openid/provider.ts';
import { type Browser, givenPerson, openBrowser, signedIn } from '#test/kit/programs/browser.ts';
import { type Answer, world, type World } from '#test/kit/world.ts';

/** Domain that the organization of a flow has proven. */
export const DOMAIN = 'acme.example';

export type Sent = Answer & { readonly text: string };

/** An organization with a provider, and people who sign in through it. */
export interface Flow {
  readonly w: World;
  readonly provider: TestProvider;
  /** An owner with a password, in a browser. */
  readonly owner: Browser & { readonly email: string; readonly userId: Id<'user'> };
  /** Connects the provider, or changes the connection. */
  connect(settings?: object): Promise<void>;
  /** A new browser; where many tests use the flow, in a network of its own, as tries of a network are limited. */
  newBrowser(): Browser;
  /** Begins in this browser; the address at the provider. */
  begin(browser: Browser, input?: object): Promise<string>;
  /** Comes back from the provider. */
  comeBack(browser: Browser, answer: URL): Promise<Sent>;
  /** All of it in a new browser, or in this one. */
  signIn(browser?: Browser): Promise<Sent & { readonly browser: Browser }>;
  /** Somebody of the organization with a password. */
  member(role: Role, email: string): Promise<Id<'user'>>;
}

export async function openFlow({
  w: existing,
  ...options
}: {
  readonly claimsIn?: 'id_token' | 'userinfo';
  readonly settings?: object;
  readonly w?: World;
  /** Whether the provider is closed behind the file, and not behind the test. */
  readonly keepOpen?: boolean;
} = {}): Promise<Flow> {
  const w = existing ?? (await world());
  const { baseUrl } = w.context.config;
  const provider = await openTestProvider([redirectUriOf(baseUrl, w.orgId)], {
    signOutUris: [signOutUriOf(baseUrl)],
    logoutUri: `${baseUrl}${logoutPathOf(w)}`,
    report: async (address, body) => (await reportLogout(w, new URL(address).pathname, body)).statusCode,
    ...options,
  });
  const person = await givenPerson(w, { role: 'owner', name: 'Otto' });
  const owner = Object.assign(await signedIn(w, person.email), person);
  await vouchFor(w, w.orgId, DOMAIN);
  let networks = 0;
  const flow: Flow = {
    w,
    provider,
    owner,
    newBrowser: () => openBrowser(w, options.keepOpen === true ? `198.18.${(networks += 1)}.1` : undefined),
    async connect(settings = {}) {
      const input = { ...connectionTo(provider), ...settings };
      const answer = await owner.invoke(w.orgId, 'set_openid_connection', input);
      expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200 });
    },
    async begin(browser, input = { orgId: w.orgId }) {
      const answer = await browser.post('/sign-in', input);
      expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200 });
      return answer.body.result.redirectTo;
    },
    comeBack: (browser, answer) => browser.ask('GET', answer.pathname.replace('/api/console', '') + answer.search),
    async signIn(browser = flow.newBrowser()) {
      const answer = await provider.visit(await flow.begin(browser));
      return { ...(await flow.comeBack(browser, answer)), browser };
    },
    async member(role, email) {
      const { userId } = await givenPerson(w, { role });
      await w.context.db.sql.run('update users set email = $1 where id = $2', [email, userId]);
      return userId;
    },
  };
  await flow.connect(options.settings);
  return flow;
}

/** Path to which the provider of the flow's organization reports logouts. */
export const logoutPathOf = ({ orgId }: World): string => `/api/console/sign-in/${orgId}/logout`;

/** Reports a logout as providers do: without a cookie and without an origin. */
export async function reportLogout({ app }: World, url: string, payload: string) {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return await app.inject({ method: 'POST', url, headers, payload });
}

/** A second process on the same stores. */
export async function otherProcess({ w }: Flow): Promise<World> {
  const context = await compose(w.context.config, { log: silentLog, clock: w.clock, jobQueue: drivenQueue(w.clock) });
  const app = await buildApp(context);
  await app.ready();
  onTestFinished(async () => {
    await app.close();
    await context.close();
  });
  return { ...w, context, app };
}

export function connectionTo({ issuer, clientId, clientSecret }: TestProvider): object {
  return {
    issuer,
    clientId,
    clientSecret,
    scope: 'openid email profile',
    isEnabled: true,
    isRequired: false,
    trustsSecondFactor: false,
    defaultRole: 'responder',
    roleClaim: null,
    roleMap: [],
  };
}

/** Adds a domain as whoever runs the installation does, by the command line. */
export async function vouchFor(w: World, orgId: Id<'org'>, domain: string): Promise<void> {
  const origin = { requestId: newId('req'), address: null };
  await runAction(w.context.actions, addSignInDomain, operatorIn(orgId), { domain }, origin);
}

/** Expects an answer that refuses, and that says this sentence of ours. */
export function expectRefused(answer: Sent, sentence: RegExp): void {
  expect(answer.text.replaceAll('&#39;', "'")).toMatch(sentence);
  expect(answer.status).toBeGreaterThanOrEqual(400);
}
