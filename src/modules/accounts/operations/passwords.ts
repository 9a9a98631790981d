import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { countAttempt } from '#auth/sign_in_limiter.ts';
import { StrictObject } from '#kernel/action.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import { networkOf } from '#kernel/ip_address.ts';
import { beginSession, SignInView } from '#modules/accounts/begin_session.ts';
import { endAccess, proveAddress } from '#modules/accounts/end_access.ts';
import { EmailField, EndsField, LinkToken, PasswordField } from '#modules/accounts/view.ts';
import { hashNewPassword, requirePassword } from '#modules/accounts/passwords.ts';
import { getReset, resetNotValid } from '#modules/accounts/operations/password_resets.ts';
import { sendPasswordReset } from '#storage/queue/jobs.ts';

export const changePassword = defineOperation({
  name: 'change_password',
  scope: 'signed_in',
  route: 'POST /me/password',
  summary:
    'Change your password. Every other session of yours ends, and your connected apps and API keys unless you keep them.',
  effect: 'write',
  input: StrictObject({
    currentPassword: PasswordField,
    newPassword: PasswordField,
    disconnectApps: EndsField,
    revokeApiKeys: EndsField,
  }),
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
    return { user, passwordHash: await hashNewPassword('newPassword', newPassword, { email, name }) };
  },
  async handle({ disconnectApps = true, revokeApiKeys = true }, context, { user, passwordHash }) {
    const { stores, now, session, record } = context;
    const { userId, sessionId } = session;
    const locked = await stores.people.lockUser(userId);
    if (locked?.passwordHash !== user.passwordHash) throw wrongPassword();
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

/** Requests a link by mail. A worker later looks up whether the account exists: answer and time are the same. */
export const requestPasswordReset = defineOperation({
  name: 'request_password_reset',
  scope: 'anyone',
  route: 'POST /password-resets',
  status: 202,
  summary:
    'Send a link by mail with which a new password can be set, once, within an hour. The answer is the same whether or not there is such an account.',
  effect: 'write',
  input: StrictObject({ email: EmailField }),
  result: Type.Object({ sent: Type.Literal(true) }),
  conflict: 'this server sends no mail',
  refusals: ['rate_limited'],
  example: { email: 'anna@example.com' },
  async prepare(_input, { installation, stores, runtime, origin }) {
    if (!installation.hasMail) {
      throw new AppError(
        'conflict',
        'this server has no mail server configured; its operator can print a link with: tocsin user password --email E',
      );
    }
    const key = `reset:${networkOf(origin.address ?? '')}`;
    const { resetsOfAddressMax: max } = installation.limits;
    await countAttempt(stores, runtime.clock, { key, limit: 'resetsOfAddressMax', max, windowSeconds: 3_600 });
  },
  async handle({ email }, { enqueue, origin }) {
    enqueue(sendPasswordReset, { email, ...origin });
    return { sent: true as const };
  },
});

/** Sets a new password by a link. Of several calls at once with one link, one succeeds. */
export const resetPassword = defineOperation({
  name: 'reset_password',
  scope: 'anyone',
  route: 'POST /password-resets/:token',
  summary:
    'Set a new password by a link. Every session and connected app of the person ends, and their API keys unless they keep them; by the first link that was mailed to the address, second factors and keys end as well; the answer sets the cookie of a new session.',
  effect: 'write',
  input: StrictObject({ token: LinkToken, password: PasswordField, revokeApiKeys: EndsField }),
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

export const getPasswordReset = defineOperation({
  name: 'get_password_reset',
  scope: 'anyone',
  route: 'GET /password-resets/:token',
  summary: 'Show whose password a link sets.',
  effect: 'read',
  input: StrictObject({ token: LinkToken }),
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
