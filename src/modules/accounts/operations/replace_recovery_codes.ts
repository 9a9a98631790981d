import { Type } from 'typebox';

import { replaceCodes } from '#modules/accounts/operations/second_factors.ts';
import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';

export const replaceRecoveryCodes = defineAction({
  name: 'replace_recovery_codes',
  consoleOnly: true,
  scope: 'signed_in',
  route: 'POST /me/recovery-codes',
  stepUp: true,
  summary: 'Get ten new recovery codes, shown once. The previous ones stop working.',
  effect: 'delete',
  input: Type.Object({}, STRICT),
  result: Type.Object({ recoveryCodes: Type.Array(Type.String()) }),
  example: {},
  handle: async (_input, context) => ({ recoveryCodes: await replaceCodes(context) }),
});
