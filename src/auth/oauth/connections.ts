import { isUseWorthRecording } from '#auth/api_keys.ts';
import { refusalError, refusalOf } from '#auth/may_act.ts';
import { mayChange } from './metadata.ts';
import { hashSecret, isSecretText } from '#auth/secret_text.ts';
import type { CallerVia, RequestOrigin } from '#kernel/caller.ts';
import { AppError } from '#kernel/errors.ts';
import { ROLE_PERMISSIONS } from '#kernel/permissions.ts';
import type { Clock, Temporal } from '#kernel/time.ts';
import { type AuditEntry, AuditStore } from '#modules/audit/store/audit_store.ts';
import { type ConnectionRow, ConnectionStore, type LiveConnection } from '#modules/apps/store/connection_store.ts';
import type { Database, Session } from '#storage/postgres/database.ts';
import { SECRET_PREFIXES } from '#kernel/ids.ts';

/** Prefix of access tokens, which a client sends with each request. */
const ACCESS_TOKEN_PREFIX = SECRET_PREFIXES.accessToken;

/** Whether the text has the form and checksum of an access token of a connection. */
function isAccessToken(text: string): boolean {
  return isSecretText(ACCESS_TOKEN_PREFIX, text);
}

/** The access token of a connection in an `Authorization` header; null when it holds anything else. */
export function bearerTokenOf(authorization: string | undefined): string | null {
  const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  return token?.startsWith(`${ACCESS_TOKEN_PREFIX}_`) === true ? token : null;
}

/**
 * The person who acts through the connection of this access token, with the current permissions: token,
 * connection and role are read anew, in one query. Throws `unauthenticated`, `second_factor_required` while the person
 * lacks the second factor that the organization requires, and `forbidden` for an address that it does not admit.
 */
export async function authenticateConnection(
  session: Session,
  { token, resource, address }: { readonly token: string; readonly resource: string; readonly address: string },
  now: Temporal.Instant,
): Promise<CallerVia<'mcp'>> {
  const connections = new ConnectionStore(session);
  const connection = isAccessToken(token) ? await connections.findByToken(hashSecret(token), resource, now) : null;
  if (connection === null) {
    throw new AppError('unauthenticated', 'this access token is unknown or expired, or the app was disconnected');
  }
  const refusal = refusalOf(connection, { kind: 'credential', address });
  if (refusal !== null) throw refusalError(refusal);
  const { connectionId, lastUsedAt } = connection;
  if (isUseWorthRecording(lastUsedAt, now)) await connections.touch(connectionId, now);
  return callerOf(connection);
}

function callerOf(connection: LiveConnection): CallerVia<'mcp'> {
  const { orgId, userId, connectionId, clientName, role, access, scope, areStopped } = connection;
  const ofRole = ROLE_PERMISSIONS[role];
  const isReadOnly = access === 'read_only' || !mayChange(scope);
  const granted = isReadOnly ? ofRole.filter((permission) => permission.endsWith(':view')) : ofRole;
  return {
    orgId,
    actor: { kind: 'user', userId, apiKeyId: null, connection: { connectionId, clientName } },
    via: 'mcp',
    mustStepUp: false,
    permissions: new Set(granted),
    withheld: new Set(ofRole.filter((permission) => !granted.includes(permission))),
    ...(granted.every((permission) => permission.endsWith(':view')) && { isReadOnly: true }),
    ...(areStopped === true && { areAgentsStopped: true }),
  };
}

/** Adds the connection that somebody has just approved, with its row in the audit log. */
export async function connect(session: Session, connection: ConnectionRow, origin: RequestOrigin): Promise<void> {
  await new ConnectionStore(session).insert(connection);
  const { userId, createdAt } = connection;
  const actor = { kind: 'user', userId, apiKeyId: null } as const;
  const made = {
    actor,
    via: 'console',
    action: 'connect_app',
    before: null,
    after: auditedConnection(connection),
  } as const;
  await new AuditStore(session).append({ ...entryOf(connection), ...made, origin }, createdAt);
}

/** End of a connection: who ended it, how, and why if that is not obvious. */
export type Revocation = Pick<AuditEntry, 'actor' | 'via' | 'origin' | 'after'>;

/** Ends the connection, its tokens included, with its row in the audit log. Does nothing when it has ended already. */
export async function disconnect(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  connectionId: string,
  revocationOf: (connection: ConnectionRow) => Revocation,
): Promise<void> {
  await db.transaction(async (session) => {
    const removed = await new ConnectionStore(session).remove(connectionId);
    if (removed !== null) await recordRevocation(session, removed, revocationOf(removed), clock.now());
  });
}

/** The row in the audit log of a connection that was removed. */
export async function recordRevocation(
  session: Session,
  connection: ConnectionRow,
  revocation: Revocation,
  now: Temporal.Instant,
): Promise<void> {
  const made = { action: 'disconnect_app', before: auditedConnection(connection), ...revocation };
  await new AuditStore(session).append({ ...entryOf(connection), ...made }, now);
}

/** The client gave its tokens back. */
export function revokedByClient({ userId, connectionId, clientName }: ConnectionRow): Revocation {
  const actor = { kind: 'user', userId, apiKeyId: null, connection: { connectionId, clientName } } as const;
  return { actor, via: 'mcp', after: null, origin: { requestId: connectionId, address: null } };
}

/** The product itself ended it. */
export function revokedBySystem(why: string): (connection: ConnectionRow) => Revocation {
  return ({ connectionId }) => ({
    actor: { kind: 'system' },
    via: 'system',
    after: { why },
    origin: { requestId: connectionId, address: null },
  });
}

function entryOf({ orgId, connectionId }: ConnectionRow): Pick<AuditEntry, 'orgId' | 'target' | 'result'> {
  return { orgId, target: connectionId, result: 'done' };
}

export function auditedConnection({ userId, clientName, clientUri, access }: ConnectionRow): object {
  return { userId, clientName, clientUri, access };
}
