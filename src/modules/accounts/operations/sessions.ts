import { Type } from 'typebox';

import { defineOperation, type SignedInContext } from '#actions/action_context.ts';
import { IdText, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { endOf, livenessAt } from '#auth/sessions.ts';
import { AppError } from '#kernel/errors.ts';
import { toTimestamp } from '#kernel/time.ts';
import { readSignedIn, SignedInView } from '#modules/accounts/view.ts';
import { ProviderSignInError } from '#modules/sign_in/decide/sign_in_fault.ts';
import { signOutUriOf } from '#modules/sign_in/sign_in_view.ts';

export const getSession = defineOperation({
  name: 'get_session',
  scope: 'signed_in',
  route: 'GET /session',
  summary: 'Show who is signed in, and their role in each organization.',
  effect: 'read',
  result: SignedInView,
  handle: (_input, { stores, session }) => readSignedIn(stores, session),
});

const SessionView = Type.Object({
  sessionId: IdText,
  createdAt: Timestamp,
  lastUsedAt: Timestamp,
  expiresAt: Type.String({ format: 'date-time', description: 'unless it is used again before' }),
  address: nullable(Type.String()),
  userAgent: nullable(Type.String()),
  isCurrent: Type.Boolean({ description: 'the one that asks' }),
});

/** Limit on the sessions listed; `end_other_sessions` ends the others together. */
const SESSIONS_MAX = 50;

export const listSessions = defineOperation({
  name: 'list_sessions',
  scope: 'signed_in',
  route: 'GET /sessions',
  summary: 'List where you are signed in: those that were used last, and how many there are.',
  effect: 'read',
  result: Type.Object({
    sessions: Type.Array(SessionView, { description: `last used first; at most ${SESSIONS_MAX}` }),
    total: Type.Integer(),
  }),
  async handle(_input, { stores, now, session: current }) {
    const live = livenessAt(now);
    const rows = await stores.sessions.listOf(current, live, SESSIONS_MAX);
    return {
      sessions: rows.map((row) => ({
        sessionId: row.sessionId,
        createdAt: toTimestamp(row.createdAt),
        lastUsedAt: toTimestamp(row.lastUsedAt),
        expiresAt: toTimestamp(endOf(row)),
        address: row.address,
        userAgent: row.userAgent,
        isCurrent: row.sessionId === current.sessionId,
      })),
      total: await stores.sessions.countOf(current, live),
    };
  },
});

export const endSession = defineOperation({
  name: 'end_session',
  scope: 'signed_in',
  route: 'DELETE /sessions/:sessionId',
  summary: 'End one of your sessions: it is refused from the next request on.',
  effect: 'delete',
  input: StrictObject({ sessionId: IdText }),
  result: Type.Object({ deleted: Type.Literal(true), sessionId: IdText }),
  refusals: ['not_found'],
  example: { sessionId: 'session_01k9z8e4rnf7ktv2x5m6w0abqd' },
  async handle({ sessionId }, context) {
    await endOwnSession(context, sessionId);
    return { deleted: true as const, sessionId };
  },
});

export const endOtherSessions = defineOperation({
  name: 'end_other_sessions',
  scope: 'signed_in',
  route: 'DELETE /sessions',
  summary: 'End all of your sessions but this one.',
  effect: 'delete',
  result: Type.Object({ deleted: Type.Literal(true), sessionIds: Type.Array(IdText) }),
  async handle(_input, { stores, session, record }) {
    const sessionIds = await stores.sessions.endOthers(session);
    for (const ended of sessionIds) record(endedSession(session.userId, ended));
    return { deleted: true as const, sessionIds };
  },
});

/** Ends one session of the person, this one included. Throws `not_found`. */
async function endOwnSession({ stores, session, record }: SignedInContext, sessionId: string): Promise<void> {
  if (!(await stores.sessions.end(session, sessionId))) throw new AppError('not_found', 'you have no such session');
  record(endedSession(session.userId, sessionId));
}

/** Returns the audit entry for a session that the person has ended. */
function endedSession(userId: SignedInContext['session']['userId'], sessionId: string) {
  return { userId, action: 'end_session', target: sessionId, before: { live: true }, after: null };
}

export const signOut = defineOperation({
  name: 'sign_out',
  scope: 'signed_in',
  route: 'DELETE /session',
  summary:
    'Sign out: the session ends and its cookie is deleted. The answer says where the browser goes to sign out at the provider, too.',
  effect: 'delete',
  result: Type.Object({
    deleted: Type.Literal(true),
    redirectTo: nullable(
      Type.String({ description: 'where the provider signs the person out; null where no provider signed them in' }),
    ),
  }),
  async prepare(_input, context) {
    return await findProviderSignOut(context);
  },
  async handle(_input, context, redirectTo) {
    await endOwnSession(context, context.session.sessionId);
    context.browser.takeSessionAway();
    return { deleted: true as const, redirectTo };
  },
});

/**
 * Returns the address at which the provider that began this session signs the person out, too; null for a session by a
 * password, and for a provider that offers no such address or does not answer. Nothing of it holds up a sign-out.
 */
async function findProviderSignOut({
  stores,
  session: { providerOrgId },
  installation,
  baseUrl,
}: SignedInContext): Promise<string | null> {
  const connection = providerOrgId === null ? null : await stores.openId.findConnection(providerOrgId);
  if (connection?.isEnabled !== true) return null;
  try {
    return await installation.openId.findSignOut(connection, signOutUriOf(baseUrl));
  } catch (error) {
    if (error instanceof ProviderSignInError) return null;
    throw error;
  }
}
