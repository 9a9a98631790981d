import { Type } from 'typebox';

import { LinkToken } from '#modules/accounts/fields.ts';
import { getReset } from '#modules/accounts/operations/password_resets.ts';
import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';

export const getPasswordReset = defineAction({
  name: 'get_password_reset',
  consoleOnly: true,
  scope: 'anyone',
  route: 'GET /password-resets/:token',
  summary: 'Show whose password a link sets.',
  effect: 'read',
  input: Type.Object({ token: LinkToken }, STRICT),
  result: Type.Object({
    email: Type.String(),
    apiKeys: Type.Integer({ description: 'how many API keys of their own the person has' }),
  }),
  refusals: ['not_found'],
  example: { token: 'tocsin_rst_0' },
  async handle({ token }, { stores, now }) {
    const { email, userId } = await getReset(stores, token, now);
    return { email, apiKeys: await stores.apiKeys.countOf(userId) };
  },
});
