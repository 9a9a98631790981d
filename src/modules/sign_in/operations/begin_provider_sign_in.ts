import { Type } from 'typebox';

import { type AccountContext, defineAction } from '#actions/action_context.ts';
import { IdText, STRICT } from '#actions/fields.ts';
import { networkOf } from '#kernel/ip_address.ts';
import { ATTEMPT_MINUTES, attemptKeysOf, browserHashOf, newAttemptSecret } from '#auth/openid/attempt_cookie.ts';
import { hashSecret } from '#auth/secret_text.ts';
import { countAttempt } from '#auth/sign_in_limiter.ts';
import { asId } from '#kernel/ids.ts';
import { EmailField } from '#modules/accounts/fields.ts';
import { mailDomainOf } from '#modules/sign_in/decide/claims.ts';
import { returnPath } from '#modules/sign_in/decide/return_path.ts';
import { ProviderSignInError } from '#modules/sign_in/decide/sign_in_fault.ts';
import { type Attempt, ATTEMPT_KIND, triesOf } from '#modules/sign_in/attempt.ts';
import { redirectUriOf } from '#modules/sign_in/sign_in_view.ts';
import type { OpenIdConnectionRow } from '#modules/sign_in/store.ts';

const WINDOW_SECONDS = 15 * 60;

export const beginProviderSignIn = defineAction({
  name: 'begin_provider_sign_in',
  consoleOnly: true,
  scope: 'anyone',
  route: 'POST /sign-in',
  summary:
    "Begin to sign in through an organization's provider, which is found by a mail address or by the link of the organization. The answer says where the browser has to go.",
  effect: 'write',
  input: Type.Object(
    {
      email: Type.Optional(EmailField),
      orgId: Type.Optional(IdText),
      next: Type.Optional(Type.String({ maxLength: 4_000, description: 'page of the console to show afterwards' })),
    },
    STRICT,
  ),
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
