import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { IdText, STRICT } from '#actions/fields.ts';
import { AppError, notFound } from '#kernel/errors.ts';
import { asId } from '#kernel/ids.ts';
import { requireOwner } from '#modules/sign_in/require_owner.ts';

export const endMemberSessions = defineAction({
  name: 'end_member_sessions',
  consoleOnly: true,
  stepUp: true,
  summary:
    'End one session of a member, or all of them: from the next request on the person has to sign in again, and open streams end. Only owners may.',
  permission: 'organization:manage',
  effect: 'delete',
  input: Type.Object(
    { userId: IdText, sessionId: Type.Optional(Type.String({ description: 'only this one; all when left out' })) },
    STRICT,
  ),
  result: Type.Object({ deleted: Type.Literal(true), userId: IdText, endedSessions: Type.Integer() }),
  example: { userId: EXAMPLE_IDS.userId, sessionId: EXAMPLE_IDS.sessionId },
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
