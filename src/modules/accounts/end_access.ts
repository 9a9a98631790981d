import type { AccountContext } from '#actions/action_context.ts';
import { auditedConnection } from '#auth/oauth/connections.ts';
import type { Id } from '#kernel/ids.ts';
import { forgetSetUp } from '#modules/accounts/unproven_account.ts';

/**
 * Records that a person has used a link that was mailed to the address of an account. The first time, everything that
 * was set up before ends: second factors, sessions, connected apps, API keys, browsers that pages go to, confirmed numbers
 * and linked chat accounts, for whoever made the account may have been somebody else. Returns whether it was the first time.
 */
export async function proveAddress(context: AccountContext, userId: Id<'user'>): Promise<boolean> {
  const { stores, now, record } = context;
  if (!(await stores.addressProofs.prove(userId, now))) return false;
  await forgetSetUp(stores, userId);
  const ended = await endAccess(context, userId, { session: null, apps: false, apiKeys: false });
  record({ userId, action: 'prove_address', target: userId, before: null, after: ended });
  return true;
}

/** Credentials that stay valid after a new password. */
interface Kept {
  /** The session in which the password is changed. */
  readonly session: Id<'session'> | null;
  readonly apps: boolean;
  readonly apiKeys: boolean;
}

/**
 * Ends all access that somebody who knew the old password may have gained: sessions, connected apps and keys, except
 * what the person keeps. Each app and key has its row in the audit log of its own organization.
 */
export async function endAccess(
  { stores, now, record }: AccountContext,
  userId: Id<'user'>,
  kept: Kept,
): Promise<{ endedSessions: number; disconnectedApps: number; revokedApiKeys: number }> {
  const after = { why: 'a new password' };
  const sessions = await stores.sessions.endAll(userId, kept.session);
  const apps = kept.apps ? [] : await stores.connections.removeEveryOf(userId);
  for (const app of apps) {
    const { orgId, connectionId: target } = app;
    record({ userId, orgId, action: 'disconnect_app', target, before: auditedConnection(app), after });
  }
  const keys = kept.apiKeys ? [] : await stores.apiKeys.revokeEveryOf(userId, now);
  for (const { orgId, apiKeyId: target, name } of keys) {
    record({ userId, orgId, action: 'revoke_api_key', target, before: { name, userId }, after });
  }
  return { endedSessions: sessions.length, disconnectedApps: apps.length, revokedApiKeys: keys.length };
}
