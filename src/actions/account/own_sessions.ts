import { type Static, Type } from 'typebox';

import { recordAccountChange } from '#actions/account/record_account_change.ts';
import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import type { UnitOfWork } from '#storage/postgres/unit_of_work.ts';
import { endOf, livenessAt } from '#auth/sessions.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';
import type { SessionRow } from '#storage/postgres/session_store.ts';
import type { Stores } from '#storage/postgres/stores.ts';

export const SessionView = Type.Object({
  sessionId: IdText,
  createdAt: Timestamp,
  lastUsedAt: Timestamp,
  expiresAt: Type.String({ format: 'date-time', description: 'unless it is used again before' }),
  address: nullable(Type.String()),
  userAgent: nullable(Type.String()),
  isCurrent: Type.Boolean({ description: 'the one that asks' }),
});

/** Whose session asks. */
type Own = Pick<SessionRow, 'userId' | 'sessionId'>;

/** Where the person is signed in, last used first. */
export async function listOwnSessions(
  stores: Stores,
  { userId, sessionId }: Own,
  now: Temporal.Instant,
): Promise<{ sessions: Static<typeof SessionView>[] }> {
  const rows = await stores.sessions.listOf(userId, livenessAt(now));
  return { sessions: rows.map((row) => toView(row, sessionId)) };
}

/** Ends one of the person's own, this one included. Throws `not_found`. */
export async function endOwnSession(
  unit: UnitOfWork,
  { userId }: Own,
  wanted: string,
  origin: RequestOrigin,
): Promise<{ deleted: true; sessionId: string }> {
  if (!(await unit.stores.sessions.end(userId, wanted))) throw new AppError('not_found', 'you have no such session');
  await recordEnd(unit, userId, [wanted], origin);
  return { deleted: true, sessionId: wanted };
}

/** Ends all but this one. */
export async function endOtherSessions(
  unit: UnitOfWork,
  { userId, sessionId }: Own,
  origin: RequestOrigin,
): Promise<{ deleted: true; sessionIds: Id<'session'>[] }> {
  const sessionIds = await unit.stores.sessions.endAll(userId, sessionId);
  await recordEnd(unit, userId, sessionIds, origin);
  return { deleted: true, sessionIds };
}

async function recordEnd(
  unit: UnitOfWork,
  userId: Id<'user'>,
  sessionIds: readonly string[],
  origin: RequestOrigin,
): Promise<void> {
  for (const target of sessionIds) {
    const change = { action: 'end_session', target, before: { live: true }, after: null };
    await recordAccountChange(unit, { userId, ...change, origin });
  }
}

function toView(row: SessionRow, current: Id<'session'>): Static<typeof SessionView> {
  const { sessionId, createdAt, lastUsedAt, address, userAgent } = row;
  return {
    sessionId,
    createdAt: toTimestamp(createdAt),
    lastUsedAt: toTimestamp(lastUsedAt),
    expiresAt: toTimestamp(endOf(row)),
    address,
    userAgent,
    isCurrent: sessionId === current,
  };
}
