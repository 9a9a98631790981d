import { Type } from 'typebox';

import { RoleName } from '#actions/account/view.ts';
import { CLOSED, IdText } from '#actions/fields.ts';
import { acceptInvitation, OpenInvitationView, readInvitation } from '#actions/people/accept_invitation.ts';
import {
  createInvitation,
  InvitationView,
  listInvitations,
  NewInvitationView,
  revokeInvitation,
} from '#actions/people/invitations.ts';
import { inUnitOfWork } from '#storage/postgres/unit_of_work.ts';
import { createCipher } from '#auth/cipher.ts';
import { authenticateSession } from '#auth/sessions.ts';
import { type ConsoleCall, consoleRoute } from '#entry/http/console/route.ts';
import { EmailField, giveSession, NameField, PasswordField, SignInView } from '#entry/http/console/session.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { storesOf } from '#storage/postgres/stores.ts';

export const INVITATION_ROUTES = [
  consoleRoute({
    name: 'get_invitation',
    method: 'GET',
    path: '/invitations/:token',
    tag: 'Signing in',
    summary: 'Tell who invites whom to what, to whoever holds the link.',
    access: 'anyone',
    result: OpenInvitationView,
    refusals: ['not_found'],
    handle: ({ house, params, now }) => readInvitation(storesOf(house.db.session()), params['token'] ?? '', now),
  }),
  consoleRoute({
    name: 'accept_invitation',
    method: 'POST',
    path: '/invitations/:token',
    tag: 'Signing in',
    summary:
      'Accept an invitation: with a name and a password for a new account, with the password of the one there is, or with neither when signed in as the invited person. The answer sets the cookie of a session.',
    access: 'anyone',
    body: Type.Object({ name: Type.Optional(NameField), password: Type.Optional(PasswordField) }, CLOSED),
    result: SignInView,
    refusals: ['unauthenticated', 'not_found', 'conflict', 'rate_limited'],
    async handle(call) {
      const { house, params, body, visitor, origin } = call;
      const acceptance = { token: params['token'] ?? '', ...body, signedInAs: await findSignedIn(call) };
      return giveSession(call, await acceptInvitation(house.actions, acceptance, visitor, origin));
    },
  }),
  consoleRoute({
    name: 'list_invitations',
    method: 'GET',
    path: '/organizations/:org/invitations',
    tag: 'Organizations',
    summary: 'List who was invited, newest first.',
    access: 'manager',
    result: Type.Object({ invitations: Type.Array(InvitationView) }),
    handle: ({ house, caller, now }) => listInvitations(storesOf(house.db.session()), caller.orgId, now),
  }),
  consoleRoute({
    name: 'create_invitation',
    method: 'POST',
    path: '/organizations/:org/invitations',
    tag: 'Organizations',
    summary:
      'Invite somebody by a link that works once, within seven days. It is mailed where this server sends mail, and shown here once.',
    access: 'manager',
    body: Type.Object({ email: EmailField, role: RoleName }, CLOSED),
    result: NewInvitationView,
    refusals: ['conflict'],
    handle({ house, caller, body, origin }) {
      const { baseUrl, appSecret } = house.config;
      const settings = { baseUrl, cipher: createCipher(appSecret, 'invitations'), hasMail: house.mail !== null };
      return inUnitOfWork(house.actions, (unit) => createInvitation(unit, caller, body, settings, origin));
    },
  }),
  consoleRoute({
    name: 'revoke_invitation',
    method: 'DELETE',
    path: '/organizations/:org/invitations/:invitationId',
    tag: 'Organizations',
    summary: 'Revoke an invitation: its link is worthless from the next request on.',
    access: 'manager',
    result: Type.Object({ deleted: Type.Literal(true), invitationId: IdText }),
    handle: ({ house, caller, params, origin }) =>
      inUnitOfWork(house.actions, (unit) => revokeInvitation(unit, caller, params['invitationId'] ?? '', origin)),
  }),
];

/** Whoever is signed in in this browser, if anybody. */
async function findSignedIn({
  house,
  cookie,
  request,
  now,
}: Pick<ConsoleCall, 'house' | 'cookie' | 'request' | 'now'>): Promise<Id<'user'> | null> {
  try {
    return (await authenticateSession(storesOf(house.db.session()), cookie, request.headers.cookie, now)).userId;
  } catch (error) {
    if (error instanceof AppError && error.code === 'unauthenticated') return null;
    throw error;
  }
}
