import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT, IdText, nullable, Timestamp } from '#actions/fields.ts';
import { endOf, livenessAt } from '#auth/sessions.ts';
import { toTimestamp } from '#kernel/time.ts';

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

export const listSessions = defineAction({
  name: 'list_sessions',
  consoleOnly: true,
  scope: 'signed_in',
  route: 'GET /sessions',
  summary: 'List where you are signed in: those that were used last, and how many there are.',
  effect: 'read',
  input: Type.Object({}, STRICT),
  result: Type.Object({
    sessions: Type.Array(SessionView, { description: `last used first; at most ${SESSIONS_MAX}` }),
    total: Type.Integer(),
  }),
  example: {},
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
