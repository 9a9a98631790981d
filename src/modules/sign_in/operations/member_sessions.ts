import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS, IdText, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { pageInput, pageOf, parseTimeCursor, timeCursorOf } from '#actions/list_page.ts';
import { endOf, livenessAt } from '#auth/sessions.ts';
import { AppError, notFound } from '#kernel/errors.ts';
import { asId } from '#kernel/ids.ts';
import { toTimestamp } from '#kernel/time.ts';
import { requireOwner } from '#modules/sign_in/require_owner.ts';

const LIMIT = 50;
const LIMIT_MAX = 200;

const MemberSessionView = Type.Object({
  sessionId: IdText,
  user: Type.Object({ userId: IdText, name: Type.String(), email: Type.String() }),
  by: Type.Enum(['password', 'provider']),
  createdAt: Timestamp,
  lastUsedAt: Timestamp,
  expiresAt: Type.String({ format: 'date-time', description: 'unless it is used again before' }),
  address: nullable(Type.String({ description: 'address at which it was begun' })),
  userAgent: nullable(Type.String()),
});

export const listOrganizationSessions = defineOperation({
  name: 'list_organization_sessions',
  summary:
    'Find the sessions of members that can act in the organization, page by page, newest first. Sessions through the provider of another organization are not among them. Only owners may.',
  permission: 'organization:manage',
  effect: 'read',
  input: StrictObject({ userId: Type.Optional(IdText), ...pageInput(LIMIT, LIMIT_MAX) }),
  result: Type.Object({
    sessions: Type.Array(MemberSessionView),
    total: Type.Integer({ description: 'how many match' }),
    nextCursor: nullable(Type.String()),
  }),
  refusals: ['not_found'],
  example: { userId: EXAMPLE_IDS.userId, cursor: '1767225600000.session_01k9z8e4rnf7ktv2x5m6w0abqd', limit: 20 },
  async handle({ userId, cursor, limit = LIMIT }, context) {
    const { caller, stores, now } = context;
    await requireOwner(context);
    if (userId !== undefined && (await stores.people.findRole(caller.orgId, asId('user', userId))) === null) {
      throw notFound('userId', 'member');
    }
    const wanted = { orgId: caller.orgId, userId, liveness: livenessAt(now) };
    const rows = await stores.sessions.listOfOrganization(wanted, {
      after: cursor === undefined ? null : parseTimeCursor('session', cursor),
      limit: limit + 1,
    });
    const { shown, nextCursor } = pageOf(rows, limit, (last) =>
      timeCursorOf({ at: last.createdAt, id: last.sessionId }),
    );
    return {
      sessions: shown.map((session) => ({
        sessionId: session.sessionId,
        user: { userId: session.userId, name: session.name, email: session.email },
        by: session.providerOrgId === null ? ('password' as const) : ('provider' as const),
        createdAt: toTimestamp(session.createdAt),
        lastUsedAt: toTimestamp(session.lastUsedAt),
        expiresAt: toTimestamp(endOf(session)),
        address: session.address,
        userAgent: session.userAgent,
      })),
      total: await stores.sessions.countOfOrganization(wanted),
      nextCursor,
    };
  },
});

export const endMemberSessions = defineOperation({
  name: 'end_member_sessions',
  stepUp: true,
  summary:
    'End one session of a member, or all of them: from the next request on the person has to sign in again, and open streams end. Only owners may.',
  permission: 'organization:manage',
  effect: 'delete',
  input: StrictObject({
    userId: IdText,
    sessionId: Type.Optional(Type.String({ description: 'only this one; all when left out' })),
  }),
  result: Type.Object({ deleted: Type.Literal(true), userId: IdText, endedSessions: Type.Integer() }),
  example: { sessionId: EXAMPLE_IDS.sessionId },
  async handle({ userId, sessionId }, context) {
    const { caller, stores, record } = context;
    const { orgId } = caller;
    await requireOwner(context);
    const id = asId('user', userId);
    if ((await stores.people.findRole(orgId, id)) === null) throw notFound('userId', 'member');
    const ended = await stores.sessions.endOfMember(orgId, id, sessionId ?? null);
    if (sessionId !== undefined && ended.length === 0)
      throw new AppError('not_found', 'the member has no such session');
    for (const session of ended) record({ target: session, before: { userId, live: true }, after: null });
    return { deleted: true as const, userId, endedSessions: ended.length };
  },
});
