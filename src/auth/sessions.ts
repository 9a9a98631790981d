import { isUseWorthRecording } from './api_keys.ts';
import { refusalError, refusalOf } from '#auth/may_act.ts';
import { hashSecret, isSecretText, newSecretText } from '#auth/secret_text.ts';
import type { CallerVia } from '#kernel/caller.ts';
import { AppError } from '#kernel/errors.ts';
import { asId, type Id, SECRET_PREFIXES } from '#kernel/ids.ts';
import { type Role, ROLE_CONSOLE_PERMISSIONS, ROLE_PERMISSIONS } from '#kernel/permissions.ts';
import { Temporal } from '#kernel/time.ts';
import { signedInBy } from '#modules/sign_in/decide/provider_rule.ts';
import type { Liveness, SessionOfPerson, SessionRow } from '#modules/accounts/store/session_store.ts';
import type { Stores } from '#modules/stores.ts';

const TOKEN_PREFIX = SECRET_PREFIXES.session;

/** Time after which an unused session ends. */
const IDLE = Temporal.Duration.from({ hours: 14 * 24 });
/** Time after which a session ends, however much it is used. */
const LIFETIME = Temporal.Duration.from({ hours: 90 * 24 });
const USER_AGENT_LENGTH_MAX = 500;

/** Origin of a request, as shown in lists of sessions. */
export interface Visitor {
  readonly address: string | null;
  readonly userAgent: string | null;
  /** Returns the id by which an account that was signed in to there before knows the browser; null if there is none. */
  knownDeviceOf(email: string): string | null;
}

/** Session cookie, the only one that keeps a person signed in to the console. */
export interface SessionCookie {
  readonly name: string;
  /** The token in a `Cookie` header; null without one. Of several the first counts (RFC 6265 §5.4). */
  read(header: string | undefined): string | null;
  /** The `Set-Cookie` that gives a browser this token. */
  give(token: string): string;
  /** The `Set-Cookie` that takes it away. */
  takeAway(): string;
}

/**
 * Returns the session cookie. Over https its name has the prefix by which browsers refuse one that another host or an
 * insecure page has set.
 */
export function sessionCookieOf(baseUrl: string): SessionCookie {
  const isSecure = baseUrl.startsWith('https://');
  const name = isSecure ? '__Host-tocsin_session' : 'tocsin_session';
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return {
    name,
    read(header) {
      const pairs = (header ?? '').split(';').map((pair) => pair.trim());
      const cookie = pairs.find((pair) => pair.startsWith(`${name}=`));
      return cookie?.slice(name.length + 1) ?? null;
    },
    give: (token) => `${name}=${token}; ${attributes}; Max-Age=${LIFETIME.total('seconds')}`,
    takeAway: () => `${name}=; ${attributes}; Max-Age=0`,
  };
}

/** Begins a session. The token is returned here and never again: only its hash is kept. */
export async function startSession(
  stores: Pick<Stores, 'sessions'>,
  userId: Id<'user'>,
  { address, userAgent }: Pick<Visitor, 'address' | 'userAgent'>,
  now: Temporal.Instant,
  /** Organization whose provider signed the person in; null for a password. */
  providerOrgId: Id<'org'> | null,
): Promise<{ sessionId: Id<'session'>; token: string }> {
  const token = newSecretText(TOKEN_PREFIX);
  const sessionId = await stores.sessions.insert({
    userId,
    tokenHash: hashSecret(token),
    address,
    userAgent: userAgent?.toWellFormed().replaceAll('\0', '').slice(0, USER_AGENT_LENGTH_MAX) ?? null,
    createdAt: now,
    lastUsedAt: now,
    expiresAt: now.add(LIFETIME),
    providerOrgId,
  });
  return { sessionId, token };
}

/**
 * Returns who is signed in, by the `Cookie` header. Read anew each time, so that a session that was ended is refused on
 * the next request. Throws `unauthenticated`.
 */
export async function authenticateSession(
  stores: Pick<Stores, 'sessions'>,
  cookie: SessionCookie,
  cookieHeader: string | undefined,
  now: Temporal.Instant,
): Promise<SessionOfPerson> {
  const token = cookie.read(cookieHeader);
  if (token === null) throw new AppError('unauthenticated', 'nobody is signed in; sign in first');
  const session = isSecretText(TOKEN_PREFIX, token)
    ? await stores.sessions.findLive(hashSecret(token), livenessAt(now))
    : null;
  if (session === null) throw new AppError('unauthenticated', 'the session has ended; sign in again');
  if (isUseWorthRecording(session.lastUsedAt, now)) await stores.sessions.touch(session.sessionId, now);
  return session;
}

/** Returns the conditions for a session to be valid now. */
export function livenessAt(now: Temporal.Instant): Liveness {
  return { now, usedSince: now.subtract(IDLE) };
}

/** Returns the time at which the session ends unless it is used again. */
export function endOf({ lastUsedAt, expiresAt }: SessionRow): Temporal.Instant {
  const idleEnd = lastUsedAt.add(IDLE);
  return Temporal.Instant.compare(idleEnd, expiresAt) < 0 ? idleEnd : expiresAt;
}

/** Signed-in person who acts in one of their organizations. */
export interface MemberCaller extends CallerVia<'console'> {
  readonly actor: { readonly kind: 'user'; readonly userId: Id<'user'>; readonly apiKeyId: null };
  readonly role: Role;
}

/** A second factor that was shown so long ago is shown again before keys, roles or deletion. */
const STEP_UP_MS = 10 * 60_000;

/** Whether the person has a second factor and has not shown it lately. */
export function mustStepUp(
  { hasSecondFactor, secondFactorAt }: Pick<SessionOfPerson, 'hasSecondFactor' | 'secondFactorAt'>,
  now: Temporal.Instant,
): boolean {
  if (!hasSecondFactor) return false;
  return secondFactorAt === null || now.epochMilliseconds - secondFactorAt.epochMilliseconds > STEP_UP_MS;
}

/**
 * The person with their current role. Throws `not_found` when they are no member: nobody learns what exists;
 * `second_factor_required` or `step_up_required` where the organization asks its owners and admins for a second factor;
 * `forbidden` where it admits neither the address nor the way of signing in.
 */
export async function memberCallerOf(
  stores: Pick<Stores, 'people'>,
  session: SessionOfPerson,
  { orgId, address }: { readonly orgId: string; readonly address: string | null },
  now: Temporal.Instant,
): Promise<MemberCaller> {
  const id = asId('org', orgId);
  const { userId, secondFactorAt, providerOrgId } = session;
  const standing = await stores.people.findStanding(id, userId);
  const refusal = refusalOf(standing, { kind: 'session', secondFactorAt, by: signedInBy(providerOrgId, id), address });
  if (standing === null || refusal !== null) throw refusalError(refusal ?? 'no_member');
  const { role } = standing;
  return {
    orgId: id,
    actor: { kind: 'user', userId, apiKeyId: null },
    via: 'console',
    role,
    mustStepUp: mustStepUp(session, now),
    ...(providerOrgId !== null && { isByProvider: true }),
    permissions: new Set([...ROLE_PERMISSIONS[role], ...ROLE_CONSOLE_PERMISSIONS[role]]),
  };
}
