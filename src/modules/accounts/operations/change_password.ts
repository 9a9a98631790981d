import { Type } from 'typebox';

import { endAccess } from '#modules/accounts/end_access.ts';
import { EndsField, PasswordField } from '#modules/accounts/fields.ts';
import { hashNewPassword } from '#modules/accounts/hash_new_password.ts';
import { requirePassword } from '#modules/accounts/require_password.ts';
import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';

export const changePassword = defineAction({
  name: 'change_password',
  consoleOnly: true,
  scope: 'signed_in',
  route: 'POST /me/password',
  summary:
    'Change your password. Every other session of yours ends, and your connected apps and API keys unless you keep them.',
  effect: 'write',
  input: Type.Object(
    {
      currentPassword: PasswordField,
      newPassword: PasswordField,
      disconnectApps: EndsField,
      revokeApiKeys: EndsField,
    },
    STRICT,
  ),
  result: Type.Object({ changed: Type.Literal(true) }),
  refusals: ['rate_limited'],
  example: {
    currentPassword: 'amber kettle 41 orbit',
    newPassword: 'violet kettle 42 orbit',
    disconnectApps: true,
    revokeApiKeys: true,
  },
  async prepare({ currentPassword, newPassword }, context) {
    const { email, name } = context.session;
    const user = await requirePassword(context, { email, password: currentPassword }).catch((error: unknown) => {
      // Not `unauthenticated`, since the session is valid.
      throw error instanceof AppError && error.code === 'unauthenticated' ? wrongPassword() : error;
    });
    return { known: user, passwordHash: await hashNewPassword('newPassword', newPassword, { email, name }) };
  },
  async handle({ disconnectApps = true, revokeApiKeys = true }, context, { known, passwordHash }) {
    const { stores, now, session, record } = context;
    const { userId, sessionId } = session;
    const locked = await stores.people.lockUser(userId);
    if (locked?.passwordHash !== known.passwordHash) throw wrongPassword();
    await stores.people.savePasswordHash(userId, passwordHash, now);
    await stores.passwordResets.closeAll(userId, now);
    await stores.secondFactors.endPendingOf(userId);
    const kept = { session: sessionId, apps: !disconnectApps, apiKeys: !revokeApiKeys };
    const after = await endAccess(context, userId, kept);
    record({ userId, target: userId, before: null, after });
    return { changed: true as const };
  },
});

function wrongPassword(): AppError {
  return invalidInput([{ path: 'currentPassword', message: 'is not your password' }]);
}
