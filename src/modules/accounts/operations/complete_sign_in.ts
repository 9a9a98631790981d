import { Type } from 'typebox';

import { findPendingSignIn, openSession, signInExpired, SignInView } from '#modules/accounts/begin_session.ts';
import { PendingToken, requireSecondFactor, SHOWN_FIELDS } from '#modules/accounts/operations/show_second_factor.ts';
import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';

export const completeSignIn = defineAction({
  name: 'complete_sign_in',
  consoleOnly: true,
  scope: 'anyone',
  route: 'POST /session/second-factor',
  summary: 'Complete a pending sign-in with a second factor. The answer sets the cookie of the session.',
  effect: 'write',
  input: Type.Object({ token: PendingToken, ...SHOWN_FIELDS }, STRICT),
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
