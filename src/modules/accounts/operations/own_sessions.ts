import type { SignedInContext } from '#actions/action_context.ts';
import { AppError } from '#kernel/errors.ts';

/** Ends one session of the person, this one included. Throws `not_found`. */
export async function endOwnSession({ stores, session, record }: SignedInContext, sessionId: string): Promise<void> {
  if (!(await stores.sessions.end(session, sessionId))) throw new AppError('not_found', 'you have no such session');
  record(endedSession(session.userId, sessionId));
}

/** Returns the audit entry for a session that the person has ended. */
export function endedSession(userId: SignedInContext['session']['userId'], sessionId: string) {
  return { userId, action: 'end_session', target: sessionId, before: { live: true }, after: null };
}
