import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';
import { notFound } from '#kernel/errors.ts';

export const removePasskey = defineAction({
  name: 'remove_passkey',
  consoleOnly: true,
  scope: 'signed_in',
  route: 'POST /me/passkeys/removal',
  stepUp: true,
  summary: 'Remove a passkey of yours.',
  effect: 'delete',
  input: Type.Object({ passkeyId: Type.String({ maxLength: 2_000 }) }, STRICT),
  result: Type.Object({ deleted: Type.Literal(true) }),
  refusals: ['not_found'],
  example: { passkeyId: 'c0ffee' },
  async handle({ passkeyId }, { stores, session: { userId }, record }) {
    if (!(await stores.secondFactors.deletePasskey(userId, passkeyId))) throw notFound('passkeyId', 'passkey');
    record({ userId, target: userId, before: { passkeyId }, after: null });
    return { deleted: true as const };
  },
});
