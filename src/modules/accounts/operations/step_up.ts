import { Type } from 'typebox';

import { requireSecondFactor, SHOWN_FIELDS } from '#modules/accounts/operations/show_second_factor.ts';
import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';

export const stepUp = defineAction({
  name: 'step_up',
  consoleOnly: true,
  scope: 'signed_in',
  route: 'POST /me/step-up',
  summary: 'Confirm your second factor again. For ten minutes you may then change keys and roles, and delete things.',
  effect: 'write',
  input: Type.Object(SHOWN_FIELDS, STRICT),
  result: Type.Object({ shown: Type.Literal(true) }),
  refusals: ['rate_limited'],
  example: { code: '123456', recoveryCode: 'abcd-efgh', passkey: {} },
  prepare: (shown, context) => requireSecondFactor(context, context.session.userId, shown, context.session.sessionId),
  async handle(_input, { stores, now, session }) {
    await stores.sessions.noteSecondFactor(session.sessionId, now);
    return { shown: true as const };
  },
});
