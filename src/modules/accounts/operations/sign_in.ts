import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { StrictObject } from '#kernel/action.ts';
import {
  beginSession,
  findPendingSignIn,
  openSession,
  signInExpired,
  SignInView,
} from '#modules/accounts/begin_session.ts';
import { EmailField, PasswordField } from '#modules/accounts/view.ts';
import {
  PasskeyOptions,
  passkeyOptions,
  PendingToken,
  requireSecondFactor,
  SHOWN_FIELDS,
} from '#modules/accounts/operations/second_factors.ts';
import { requirePassword, wrongCredentials } from '#modules/accounts/passwords.ts';

export const signIn = defineOperation({
  name: 'sign_in',
  scope: 'anyone',
  route: 'POST /session',
  summary:
    'Sign in with a mail address and a password; the answer sets the cookie of the session, or asks for the second factor.',
  effect: 'write',
  input: StrictObject({ email: EmailField, password: PasswordField }),
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

export const completeSignIn = defineOperation({
  name: 'complete_sign_in',
  scope: 'anyone',
  route: 'POST /session/second-factor',
  summary: 'Complete a pending sign-in with a second factor. The answer sets the cookie of the session.',
  effect: 'write',
  input: StrictObject({ token: PendingToken, ...SHOWN_FIELDS }),
  result: SignInView,
  refusals: ['unauthenticated', 'rate_limited'],
  example: { token: 'tocsin_pen_0', code: '123456', recoveryCode: 'abcd-efgh', passkey: {} },
  async prepare({ token, ...shown }, context) {
    const pending = await findPendingSignIn(context.stores, token, context.now);
    await requireSecondFactor(context, pending.userId, shown, pending.holder);
    return pending;
  },
  async handle(_input, context, { userId, providerOrgId, tokenHash }) {
    await context.stores.people.lockUser(userId);
    if (!(await context.stores.secondFactors.usePending(tokenHash))) throw signInExpired();
    return await openSession(context, userId, { providerOrgId, hasShownFactor: true });
  },
});

export const beginStepUp = defineOperation({
  name: 'begin_step_up',
  scope: 'signed_in',
  route: 'POST /me/step-up/passkey-options',
  summary: 'Get the options with which the browser confirms a passkey of yours again.',
  effect: 'write',
  result: PasskeyOptions,
  handle: (_input, context) => passkeyOptions(context, context.session.userId, context.session.sessionId),
});

export const stepUp = defineOperation({
  name: 'step_up',
  scope: 'signed_in',
  route: 'POST /me/step-up',
  summary: 'Confirm your second factor again. For ten minutes you may then change keys and roles, and delete things.',
  effect: 'write',
  input: StrictObject(SHOWN_FIELDS),
  result: Type.Object({ shown: Type.Literal(true) }),
  refusals: ['rate_limited'],
  example: { code: '123456', recoveryCode: 'abcd-efgh', passkey: {} },
  prepare: (shown, context) => requireSecondFactor(context, context.session.userId, shown, context.session.sessionId),
  async handle(_input, { stores, now, session }) {
    await stores.sessions.noteSecondFactor(session.sessionId, now);
    return { shown: true as const };
  },
});
