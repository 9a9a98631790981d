import type { UnitOfWork } from '#storage/postgres/unit_of_work.ts';
import { recordEnd } from '#auth/oauth/connections.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import type { Id } from '#kernel/ids.ts';
import type { Session } from '#storage/postgres/database.ts';

/** What of somebody's goes on after a new password. */
interface Kept {
  /** The session in which the password is changed. */
  readonly session: Id<'session'> | null;
  readonly apps: boolean;
  readonly apiKeys: boolean;
}

/**
 * Whoever knew the old password may have signed in, connected an app or made a key: all of that ends with it, but for what
 * the person keeps. Each app and key has its row in the audit log of its own organization.
 */
export async function endAccess(
  { stores, now }: UnitOfWork,
  session: Session,
  userId: Id<'user'>,
  kept: Kept,
  origin: RequestOrigin,
): Promise<{ endedSessions: number; disconnectedApps: number; revokedApiKeys: number }> {
  const by = { actor: { kind: 'user', userId, apiKeyId: null }, via: 'console', origin } as const;
  const after = { why: 'a new password' };
  const sessions = await stores.sessions.endAll(userId, kept.session);
  const apps = kept.apps ? [] : await stores.connections.removeEveryOf(userId);
  for (const app of apps) await recordEnd(session, app, { ...by, after }, now);
  const keys = kept.apiKeys ? [] : await stores.apiKeys.revokeEveryOf(userId, now);
  for (const { orgId, apiKeyId: target, name } of keys) {
    const change = { action: 'revoke_api_key', target, before: { name, userId }, after, result: 'done' } as const;
    await stores.audit.append({ orgId, ...by, ...change }, now);
  }
  return { endedSessions: sessions.length, disconnectedApps: apps.length, revokedApiKeys: keys.length };
}
