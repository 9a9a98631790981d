import { Type } from 'typebox';

import { type AccountContext, defineOperation } from '#actions/action_context.ts';
import { IdText, StrictObject } from '#actions/fields.ts';
import {
  ATTEMPT_MINUTES,
  attemptKeysOf,
  browserHashOf,
  isSameBrowser,
  newAttemptSecret,
} from '#auth/openid/attempt_cookie.ts';
import { hashSecret } from '#auth/secret_text.ts';
import { countAttempt } from '#auth/sign_in_limiter.ts';
import { asId, type Id } from '#kernel/ids.ts';
import { networkOf } from '#kernel/ip_address.ts';
import { beginSession, SignInView } from '#modules/accounts/begin_session.ts';
import { EmailField } from '#modules/accounts/view.ts';
import { mailDomainOf, readProfile } from '#modules/sign_in/decide/claims.ts';
import { returnPath } from '#modules/sign_in/decide/return_path.ts';
import { ProviderSignInError } from '#modules/sign_in/decide/sign_in_fault.ts';
import { enterAccount } from '#modules/sign_in/enter_account.ts';
import { redirectUriOf } from '#modules/sign_in/sign_in_view.ts';
import type { OpenIdConnectionRow } from '#modules/sign_in/store.ts';

/** Kind of the records of sign-ins that are under way, among those of the authorization server, which expire alike. */
const ATTEMPT_KIND = 'ProviderSignIn';

/** A sign-in that was begun. Nothing in it completes one: the keys are derived from what the browser holds. */
interface Attempt {
  readonly orgId: Id<'org'>;
  readonly issuer: string;
  readonly clientId: string;
  readonly browserHash: string;
  /** Page of the console to show afterwards. */
  readonly next: string;
  /** Network whose tries were counted. */
  readonly network: string;
}

/** Key of the tries of a network. */
const triesOf = (network: string): string => `provider:${network}`;

const WINDOW_SECONDS = 15 * 60;

export const beginProviderSignIn = defineOperation({
  name: 'begin_provider_sign_in',
  scope: 'anyone',
  route: 'POST /sign-in',
  summary:
    "Begin to sign in through an organization's provider, which is found by a mail address or by the link of the organization. The answer says where the browser has to go.",
  effect: 'write',
  input: StrictObject({
    email: Type.Optional(EmailField),
    orgId: Type.Optional(IdText),
    next: Type.Optional(Type.String({ maxLength: 4_000, description: 'page of the console to show afterwards' })),
  }),
  result: Type.Object({ redirectTo: Type.String() }),
  refusals: ['unauthenticated', 'rate_limited'],
  example: { email: 'anna@example.com', orgId: 'org_01k9z7a2b3c4d5e6f7g8h9jkmn', next: '/incidents' },
  async prepare({ email, orgId, next }, context) {
    const { stores, runtime, installation, browser, baseUrl } = context;
    const network = networkOf(browser.address ?? '');
    await countAttempt(stores, runtime.clock, {
      key: triesOf(network),
      limit: 'signInsOfAddressMax',
      max: installation.limits.signInsOfAddressMax,
      windowSeconds: WINDOW_SECONDS,
    });
    const { orgId: providerOrgId, issuer, clientId, scope } = await findConnection(context, { email, orgId });
    const secret = browser.readSignInSecret() ?? newAttemptSecret();
    const keys = attemptKeysOf(secret, newAttemptSecret());
    const redirectTo = await installation.openId.begin(
      { issuer, clientId },
      { redirectUri: redirectUriOf(baseUrl, providerOrgId), scope, keys },
    );
    const browserHash = browserHashOf(secret);
    const attempt: Attempt = { orgId: providerOrgId, issuer, clientId, browserHash, next: returnPath(next), network };
    return { secret, keys, redirectTo, attempt };
  },
  async handle(_input, { stores, now, browser }, { secret, keys, redirectTo, attempt }) {
    await stores.oauthRecords.put({
      kind: ATTEMPT_KIND,
      hash: hashSecret(keys.state),
      payload: attempt,
      connectionId: null,
      expiresAt: now.add({ minutes: ATTEMPT_MINUTES }),
    });
    browser.giveSignInSecret(secret);
    return { redirectTo };
  },
});

/** Finds the enabled connection. An organization that does not exist and one without a provider are told the same. */
async function findConnection(
  { stores }: AccountContext,
  { email, orgId }: { readonly email?: string | undefined; readonly orgId?: string | undefined },
): Promise<OpenIdConnectionRow> {
  const ofLink = orgId === undefined ? null : asId('org', orgId);
  const id = ofLink ?? (email === undefined ? null : await stores.openId.findOwnerOfDomain(mailDomainOf(email)));
  const connection = id === null ? null : await stores.openId.findConnection(id);
  if (connection?.isEnabled !== true) throw new ProviderSignInError('no_connection');
  return connection;
}

const Parameter = Type.Optional(Type.String({ maxLength: 8_000 }));

export const completeProviderSignIn = defineOperation({
  name: 'complete_provider_sign_in',
  scope: 'anyone',
  route: 'POST /sign-in/:orgId',
  summary:
    'Complete a sign-in with the answer of the provider. The answer sets the cookie of the session, or asks for the second factor.',
  effect: 'write',
  input: StrictObject({ orgId: IdText, code: Parameter, state: Parameter, iss: Parameter, error: Parameter }),
  result: Type.Object({ signedIn: SignInView, next: Type.String() }),
  refusals: ['unauthenticated', 'forbidden'],
  example: {
    orgId: 'org_01k9z7a2b3c4d5e6f7g8h9jkmn',
    code: 'c0ffee',
    state: 'tocsin_att_0',
    iss: 'https://login.example.com',
    error: 'access_denied',
  },
  async prepare({ orgId, ...answer }, context) {
    const { stores, baseUrl, installation, browser } = context;
    const id = asId('org', orgId);
    const { attempt, keys } = await takeAttempt(context, answer.state);
    if (attempt.orgId !== id) throw new ProviderSignInError('other_provider');
    const connection = await findUnchanged(context, attempt);
    try {
      const address = new URL(redirectUriOf(baseUrl, id));
      for (const [name, value] of Object.entries(answer)) address.searchParams.set(name, value);
      const claims = await installation.openId.finish(attempt, {
        address,
        clientSecret: installation.ciphers.openIdSecrets.decrypt(connection.clientSecretSealed),
        keys,
        wanted: ['email', ...(connection.roleClaim === null ? [] : [connection.roleClaim.split('.')[0] ?? ''])],
      });
      const profile = readProfile(claims, connection.issuer, await stores.openId.listProvenDomains(id));
      return { attempt, claims, profile, signedIn: await browser.findSignedIn() };
    } catch (error) {
      if (error instanceof ProviderSignInError) await noteFault(context, attempt, error);
      throw error;
    }
  },
  async handle(_input, context, { attempt, claims, profile, signedIn }) {
    const connection = await findUnchanged(context, attempt);
    const { orgId: providerOrgId } = attempt;
    const userId = await enterAccount(context, connection, { claims, profile, signedIn });
    await context.stores.signInLimits.undoAttempt(triesOf(attempt.network));
    const hasShownFactor = connection.trustsSecondFactor && profile.hasShownFactor;
    return { signedIn: await beginSession(context, userId, { providerOrgId, hasShownFactor }), next: attempt.next };
  },
});

/**
 * Takes the sign-in that was begun under this state in this browser: of several answers at the same time, one gets it.
 * It is used up also when what follows fails, so no code and no state is tried twice.
 */
async function takeAttempt({ stores, now, browser }: AccountContext, state: string | undefined) {
  const secret = browser.readSignInSecret();
  if (secret === null || state === undefined) throw new ProviderSignInError('not_begun');
  const hash = hashSecret(state);
  const begun = await stores.oauthRecords.find(ATTEMPT_KIND, hash, now);
  const attempt = begun?.payload as Attempt | undefined;
  if (attempt === undefined || !isSameBrowser(secret, attempt.browserHash)) throw new ProviderSignInError('not_begun');
  if (!(await stores.oauthRecords.consume(ATTEMPT_KIND, hash, now))) throw new ProviderSignInError('not_begun');
  return { attempt, keys: attemptKeysOf(secret, state) };
}

/** Returns the connection that the sign-in was begun with, if it is still the same and enabled. */
async function findUnchanged(
  { stores }: Pick<AccountContext, 'stores'>,
  { orgId, issuer, clientId }: Attempt,
): Promise<OpenIdConnectionRow> {
  const connection = await stores.openId.findConnection(orgId);
  if (connection?.isEnabled !== true) throw new ProviderSignInError('no_connection');
  if (connection.issuer !== issuer || connection.clientId !== clientId) {
    throw new ProviderSignInError('connection_changed');
  }
  return connection;
}

/** Keeps our sentence for owners: never what the provider said. */
async function noteFault({ stores, now }: AccountContext, { orgId }: Attempt, { message }: Error): Promise<void> {
  await stores.openId.noteFault(orgId, message, now);
}
