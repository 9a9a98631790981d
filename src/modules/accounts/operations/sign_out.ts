import { Type } from 'typebox';

import { endOwnSession } from '#modules/accounts/operations/own_sessions.ts';
import { defineAction, type SignedInContext } from '#actions/action_context.ts';
import { nullable, STRICT } from '#actions/fields.ts';
import { ProviderSignInError } from '#modules/sign_in/decide/sign_in_fault.ts';
import { signOutUriOf } from '#modules/sign_in/sign_in_view.ts';

export const signOut = defineAction({
  name: 'sign_out',
  consoleOnly: true,
  scope: 'signed_in',
  route: 'DELETE /session',
  summary:
    'Sign out: the session ends and its cookie is deleted. The answer says where the browser goes to sign out at the provider, too.',
  effect: 'delete',
  input: Type.Object({}, STRICT),
  result: Type.Object({
    deleted: Type.Literal(true),
    redirectTo: nullable(
      Type.String({ description: 'where the provider signs the person out; null where no provider signed them in' }),
    ),
  }),
  example: {},
  async prepare(_input, context) {
    return await findProviderSignOut(context);
  },
  async handle(_input, context, redirectTo) {
    await endOwnSession(context, context.session.sessionId);
    context.browser.takeSessionAway();
    return { deleted: true as const, redirectTo };
  },
});

/**
 * Returns the address at which the provider that began this session signs the person out, too; null for a session by a
 * password, and for a provider that offers no such address or does not answer. Nothing of it holds up a sign-out.
 */
async function findProviderSignOut({
  stores,
  session: { providerOrgId },
  installation,
  baseUrl,
}: SignedInContext): Promise<string | null> {
  const connection = providerOrgId === null ? null : await stores.openId.findConnection(providerOrgId);
  if (connection?.isEnabled !== true) return null;
  try {
    return await installation.openId.findSignOut(connection, signOutUriOf(baseUrl));
  } catch (error) {
    if (error instanceof ProviderSignInError) return null;
    throw error;
  }
}
