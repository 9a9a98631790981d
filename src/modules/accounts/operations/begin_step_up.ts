import { Type } from 'typebox';

import { PasskeyOptions, passkeyOptions } from '#modules/accounts/operations/second_factors.ts';
import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';

export const beginStepUp = defineAction({
  name: 'begin_step_up',
  consoleOnly: true,
  scope: 'signed_in',
  route: 'POST /me/step-up/passkey-options',
  summary: 'Get the options with which the browser confirms a passkey of yours again.',
  effect: 'write',
  input: Type.Object({}, STRICT),
  result: PasskeyOptions,
  example: {},
  handle: (_input, context) => passkeyOptions(context, context.session.userId, context.session.sessionId),
});
