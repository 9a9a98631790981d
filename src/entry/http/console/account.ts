import { Type } from 'typebox';

import { changeOwnName, changeOwnPassword } from '#actions/account/own_account.ts';
import { getReset, redeemReset, requestPasswordReset } from '#actions/account/password_reset.ts';
import { readSignedIn, SignedInView } from '#actions/account/view.ts';
import { CLOSED } from '#actions/fields.ts';
import { inUnitOfWork } from '#storage/postgres/unit_of_work.ts';
import { consoleRoute } from '#entry/http/console/route.ts';
import { EmailField, giveSession, NameField, PasswordField, SignInView } from '#entry/http/console/session.ts';
import { storesOf } from '#storage/postgres/stores.ts';

const EndsField = Type.Optional(Type.Boolean({ description: 'true when left out' }));

export const ACCOUNT_ROUTES = [
  consoleRoute({
    name: 'request_password_reset',
    method: 'POST',
    path: '/password-resets',
    tag: 'Signing in',
    summary:
      'Ask for a link by mail that sets a new password, once, within an hour. Answered alike whether or not there is such an account.',
    access: 'anyone',
    body: Type.Object({ email: EmailField }, CLOSED),
    status: 202,
    result: Type.Object({ sent: Type.Literal(true) }),
    refusals: ['conflict', 'rate_limited'],
    handle: ({ house, body, origin }) =>
      requestPasswordReset({ ...house.actions, hasMail: house.mail !== null }, body.email, origin),
  }),
  consoleRoute({
    name: 'get_password_reset',
    method: 'GET',
    path: '/password-resets/:token',
    tag: 'Signing in',
    summary: 'Tell whose password a link sets.',
    access: 'anyone',
    result: Type.Object({
      email: Type.String(),
      apiKeys: Type.Integer({ description: 'how many API keys of their own the person has' }),
    }),
    refusals: ['not_found'],
    async handle({ house, params, now }) {
      const stores = storesOf(house.db.session());
      const { email, userId } = await getReset(stores, params['token'] ?? '', now);
      return { email, apiKeys: await stores.apiKeys.countOf(userId) };
    },
  }),
  consoleRoute({
    name: 'reset_password',
    method: 'POST',
    path: '/password-resets/:token',
    tag: 'Signing in',
    summary:
      'Set a new password by a link. Every session and connected app of the person ends, and their API keys unless they keep them; the answer sets the cookie of a new session.',
    access: 'anyone',
    body: Type.Object({ password: PasswordField, revokeApiKeys: EndsField }, CLOSED),
    result: SignInView,
    refusals: ['not_found'],
    async handle(call) {
      const { house, params, body, visitor, origin } = call;
      const wanted = { ...body, token: params['token'] ?? '' };
      return giveSession(call, await redeemReset(house.actions, wanted, visitor, origin));
    },
  }),
  consoleRoute({
    name: 'update_me',
    method: 'PATCH',
    path: '/me',
    tag: 'Own account',
    summary: 'Change your name.',
    access: 'signed_in',
    body: Type.Object({ name: Type.Optional(NameField) }, CLOSED),
    result: SignedInView,
    handle: ({ house, session, body: { name }, origin }) =>
      inUnitOfWork(house.actions, async (unit) => {
        if (name !== undefined) await changeOwnName(unit, session, name, origin);
        return await readSignedIn(unit.stores, session.userId, session.sessionId);
      }),
  }),
  consoleRoute({
    name: 'change_password',
    method: 'POST',
    path: '/me/password',
    tag: 'Own account',
    summary:
      'Change your password. Every other session of yours ends, and your connected apps and API keys unless you keep them.',
    access: 'signed_in',
    body: Type.Object(
      {
        currentPassword: PasswordField,
        newPassword: PasswordField,
        disconnectApps: EndsField,
        revokeApiKeys: EndsField,
      },
      CLOSED,
    ),
    result: Type.Object({ changed: Type.Literal(true) }),
    refusals: ['rate_limited'],
    handle: ({ house, session, body, visitor, origin }) =>
      changeOwnPassword(house.actions, session, body, visitor, origin),
  }),
];
