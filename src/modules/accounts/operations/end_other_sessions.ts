import { Type } from 'typebox';

import { endedSession } from '#modules/accounts/operations/own_sessions.ts';
import { defineAction } from '#actions/action_context.ts';
import { STRICT, IdText } from '#actions/fields.ts';

export const endOtherSessions = defineAction({
  name: 'end_other_sessions',
  consoleOnly: true,
  scope: 'signed_in',
  route: 'DELETE /sessions',
  summary: 'End all of your sessions but this one.',
  effect: 'delete',
  input: Type.Object({}, STRICT),
  result: Type.Object({ deleted: Type.Literal(true), sessionIds: Type.Array(IdText) }),
  example: {},
  async handle(_input, { stores, session, record }) {
    const sessionIds = await stores.sessions.endOthers(session);
    for (const ended of sessionIds) record(endedSession(session.userId, ended));
    return { deleted: true as const, sessionIds };
  },
});
