import { Type } from 'typebox';

import { endOwnSession } from '#modules/accounts/operations/own_sessions.ts';
import { defineAction } from '#actions/action_context.ts';
import { STRICT, IdText } from '#actions/fields.ts';

export const endSession = defineAction({
  name: 'end_session',
  consoleOnly: true,
  scope: 'signed_in',
  route: 'DELETE /sessions/:sessionId',
  summary: 'End one of your sessions: it is refused from the next request on.',
  effect: 'delete',
  input: Type.Object({ sessionId: IdText }, STRICT),
  result: Type.Object({ deleted: Type.Literal(true), sessionId: IdText }),
  refusals: ['not_found'],
  example: { sessionId: 'session_01k9z8e4rnf7ktv2x5m6w0abqd' },
  async handle({ sessionId }, context) {
    await endOwnSession(context, sessionId);
    return { deleted: true as const, sessionId };
  },
});
