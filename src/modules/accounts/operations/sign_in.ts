import { Type } from 'typebox';

import { beginSession, SignInView } from '#modules/accounts/begin_session.ts';
import { EmailField, PasswordField } from '#modules/accounts/fields.ts';
import { requirePassword, wrongCredentials } from '#modules/accounts/require_password.ts';
import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';

export const signIn = defineAction({
  name: 'sign_in',
  consoleOnly: true,
  scope: 'anyone',
  route: 'POST /session',
  summary:
    'Sign in with a mail address and a password; the answer sets the cookie of the session, or asks for the second factor.',
  effect: 'write',
  input: Type.Object({ email: EmailField, password: PasswordField }, STRICT),
  result: SignInView,
  refusals: ['unauthenticated', 'rate_limited'],
  example: { email: 'anna@example.com', password: 'amber kettle 41 orbit' },
  prepare: (input, context) => requirePassword(context, input),
  async handle(_input, context, user) {
    const locked = await context.stores.people.lockUser(user.id);
    // A new password that was set meanwhile has ended every session, so none begins with the old one.
    if (locked?.passwordHash !== user.passwordHash) throw wrongCredentials();
    return await beginSession(context, user.id);
  },
});
