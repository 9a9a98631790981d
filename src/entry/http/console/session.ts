import { Type } from 'typebox';

import { endOtherSessions, endOwnSession, listOwnSessions, SessionView } from '#actions/account/own_sessions.ts';
import { PendingSignInView, signIn, type SignInOutcome } from '#actions/account/sign_in.ts';
import { readSignedIn, SignedInView } from '#actions/account/view.ts';
import { CLOSED, IdText } from '#actions/fields.ts';
import { inUnitOfWork } from '#storage/postgres/unit_of_work.ts';
import { type ConsoleCall, consoleRoute } from '#entry/http/console/route.ts';
import { storesOf } from '#storage/postgres/stores.ts';

export const EmailField = Type.String({
  pattern: '^[^\\s@]+@[^\\s@]+$',
  maxLength: 320,
  description: 'a mail address',
});

/** One that is to be checked, of whatever length it was once given. */
export const PasswordField = Type.String({ minLength: 1, maxLength: 1024 });

/** How a person is called. */
export const NameField = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '\\S',
  description: 'a name that is not blank',
});

/** Who is signed in, or what is still missing. */
export const SignInView = Type.Union([SignedInView, PendingSignInView]);

/**
 * Gives the browser its session, by which it is also known later, and says who is signed in, or asks for the second
 * factor.
 */
export function giveSession(
  { reply, request, cookie, devices }: Pick<ConsoleCall, 'reply' | 'request' | 'cookie' | 'devices'>,
  outcome: SignInOutcome,
) {
  if (outcome.kind === 'pending') return { secondFactor: { token: outcome.token, methods: outcome.methods } };
  const device = devices.give(request.headers.cookie, outcome.signedIn.user.email);
  void reply.header('set-cookie', [cookie.give(outcome.token), device]);
  return outcome.signedIn;
}

export const SESSION_ROUTES = [
  consoleRoute({
    name: 'get_session',
    method: 'GET',
    path: '/session',
    tag: 'Signing in',
    summary: 'Tell who is signed in, and where they belong with which role.',
    access: 'signed_in',
    result: SignedInView,
    handle: ({ house, session }) => readSignedIn(storesOf(house.db.session()), session.userId, session.sessionId),
  }),
  consoleRoute({
    name: 'sign_in',
    method: 'POST',
    path: '/session',
    tag: 'Signing in',
    summary:
      'Sign in with a mail address and a password; the answer sets the cookie of the session, or asks for the second factor.',
    access: 'anyone',
    body: Type.Object({ email: EmailField, password: PasswordField }, CLOSED),
    result: SignInView,
    refusals: ['unauthenticated', 'rate_limited'],
    async handle(call) {
      return giveSession(call, await signIn(call.house.actions, call.body, call.visitor, call.origin));
    },
  }),
  consoleRoute({
    name: 'sign_out',
    method: 'DELETE',
    path: '/session',
    tag: 'Signing in',
    summary: 'Sign out: the session ends and its cookie is taken away.',
    access: 'signed_in',
    result: Type.Object({ deleted: Type.Literal(true) }),
    async handle({ house, session, origin, reply, cookie }) {
      await inUnitOfWork(house.actions, (unit) => endOwnSession(unit, session, session.sessionId, origin));
      void reply.header('set-cookie', cookie.takeAway());
      return { deleted: true as const };
    },
  }),
  consoleRoute({
    name: 'list_sessions',
    method: 'GET',
    path: '/sessions',
    tag: 'Signing in',
    summary: 'List where you are signed in, last used first.',
    access: 'signed_in',
    result: Type.Object({ sessions: Type.Array(SessionView) }),
    handle: ({ house, session, now }) => listOwnSessions(storesOf(house.db.session()), session, now),
  }),
  consoleRoute({
    name: 'end_session',
    method: 'DELETE',
    path: '/sessions/:sessionId',
    tag: 'Signing in',
    summary: 'End one of your sessions: it is refused from the next request on.',
    access: 'signed_in',
    result: Type.Object({ deleted: Type.Literal(true), sessionId: IdText }),
    refusals: ['not_found'],
    handle: ({ house, session, params, origin }) =>
      inUnitOfWork(house.actions, (unit) => endOwnSession(unit, session, params['sessionId'] ?? '', origin)),
  }),
  consoleRoute({
    name: 'end_other_sessions',
    method: 'DELETE',
    path: '/sessions',
    tag: 'Signing in',
    summary: 'End all of your sessions but this one.',
    access: 'signed_in',
    result: Type.Object({ deleted: Type.Literal(true), sessionIds: Type.Array(IdText) }),
    handle: ({ house, session, origin }) =>
      inUnitOfWork(house.actions, (unit) => endOtherSessions(unit, session, origin)),
  }),
];
