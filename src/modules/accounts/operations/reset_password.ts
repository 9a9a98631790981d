import { Type } from 'typebox';

import { beginSession, SignInView } from '#modules/accounts/begin_session.ts';
import { endAccess, proveAddress } from '#modules/accounts/end_access.ts';
import { EndsField, LinkToken, PasswordField } from '#modules/accounts/fields.ts';
import { hashNewPassword } from '#modules/accounts/hash_new_password.ts';
import { getReset, resetNotValid } from '#modules/accounts/operations/password_resets.ts';
import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';

/** Sets a new password by a link. Of several calls at once with one link, one succeeds. */
export const resetPassword = defineAction({
  name: 'reset_password',
  consoleOnly: true,
  scope: 'anyone',
  route: 'POST /password-resets/:token',
  summary:
    'Set a new password by a link. Every session and connected app of the person ends, and their API keys unless they keep them; by the first link that was mailed to the address, second factors and keys end as well; the answer sets the cookie of a new session.',
  effect: 'write',
  input: Type.Object({ token: LinkToken, password: PasswordField, revokeApiKeys: EndsField }, STRICT),
  result: SignInView,
  refusals: ['not_found'],
  example: { token: 'tocsin_rst_0', password: 'violet kettle 42 orbit', revokeApiKeys: true },
  async prepare({ token, password }, { stores, now }) {
    const reset = await getReset(stores, token, now);
    return { reset, passwordHash: await hashNewPassword('password', password, reset) };
  },
  async handle({ revokeApiKeys = true }, context, { reset, passwordHash }) {
    const { stores, now, record } = context;
    const { userId } = reset;
    await stores.people.lockUser(userId);
    if (!(await stores.passwordResets.use(reset, now))) throw resetNotValid();
    await stores.people.savePasswordHash(userId, passwordHash, now);
    await stores.secondFactors.endPendingOf(userId);
    if (reset.isMailed) await proveAddress(context, userId);
    const after = await endAccess(context, userId, { session: null, apps: false, apiKeys: !revokeApiKeys });
    record({ userId, target: userId, before: null, after });
    return await beginSession(context, userId);
  },
});
