import { type Static, Type } from 'typebox';

import { readSignedIn, SignedInView } from '#modules/accounts/view.ts';
import type { AccountContext } from '#actions/action_context.ts';
import { hashSecret, isSecretText, newSecretText } from '#auth/secret_text.ts';
import { startSession } from '#auth/sessions.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Stores } from '#modules/stores.ts';

/** Result in place of the session while the second factor is missing. */
const PendingSignInView = Type.Object({
  secondFactor: Type.Object({
    token: Type.String({ description: 'names this sign-in for ten minutes' }),
    methods: Type.Array(Type.Enum(['passkey', 'code', 'recovery_code'])),
  }),
});

/** Result of a sign-in: the signed-in person, or the second factor that is still missing. */
export const SignInView = Type.Union([SignedInView, PendingSignInView]);

const PENDING_PREFIX = 'tocsin_pen';
const PENDING_MINUTES = 10;

interface BegunBy {
  /** Organization whose provider signed the person in; null for a password. */
  readonly providerOrgId: Id<'org'> | null;
  /** Whether a second factor was shown, here or, where that counts, at the provider. */
  readonly hasShownFactor: boolean;
}

const BY_PASSWORD: BegunBy = { providerOrgId: null, hasShownFactor: false };

/** Begins the session of this browser; people with a second factor are asked for it first. */
export async function beginSession(
  context: AccountContext,
  userId: Id<'user'>,
  { providerOrgId, hasShownFactor }: BegunBy = BY_PASSWORD,
): Promise<Static<typeof SignInView>> {
  const { stores, now } = context;
  const { passkeys, hasApp, recoveryCodesLeft } = await stores.secondFactors.summaryOf(userId);
  if (hasShownFactor || (passkeys === 0 && !hasApp)) {
    return await openSession(context, userId, { providerOrgId, hasShownFactor });
  }
  const token = newSecretText(PENDING_PREFIX);
  await stores.secondFactors.insertPending(
    { tokenHash: hashSecret(token), userId, providerOrgId, expiresAt: now.add({ minutes: PENDING_MINUTES }) },
    now,
  );
  return {
    secondFactor: {
      token,
      methods: [
        ...(passkeys > 0 ? (['passkey'] as const) : []),
        ...(hasApp ? (['code'] as const) : []),
        ...(recoveryCodesLeft > 0 ? (['recovery_code'] as const) : []),
      ],
    },
  };
}

export async function openSession(
  { stores, now, browser, record }: AccountContext,
  userId: Id<'user'>,
  { providerOrgId, hasShownFactor }: BegunBy,
): Promise<Static<typeof SignedInView>> {
  const { sessionId, token } = await startSession(stores, userId, browser, now, providerOrgId);
  if (hasShownFactor) await stores.sessions.noteSecondFactor(sessionId, now);
  const after = {
    userAgent: browser.userAgent,
    ...(hasShownFactor ? { secondFactor: true } : {}),
    ...(providerOrgId === null ? {} : { by: 'provider' }),
  };
  // What happens in a session that acts in one organization is told to no other.
  const provider = providerOrgId === null ? {} : { orgId: providerOrgId };
  record({ userId, ...provider, action: 'sign_in', target: sessionId, before: null, after });
  const signedIn = await readSignedIn(stores, { userId, sessionId, providerOrgId });
  browser.giveSession(token, signedIn.user.email);
  return signedIn;
}

/** A sign-in that waits for the second factor. */
interface PendingSignIn {
  readonly userId: Id<'user'>;
  readonly providerOrgId: Id<'org'> | null;
  readonly tokenHash: Buffer;
  /** Name of the challenge for a passkey. */
  readonly holder: string;
}

/** Finds the sign-in that waits under this token. Throws `unauthenticated`. */
export async function findPendingSignIn(
  { secondFactors }: Pick<Stores, 'secondFactors'>,
  token: string,
  now: Temporal.Instant,
): Promise<PendingSignIn> {
  const tokenHash = hashSecret(token);
  const pending = isSecretText(PENDING_PREFIX, token) ? await secondFactors.findPending(tokenHash, now) : null;
  if (pending === null) throw signInExpired();
  return { ...pending, tokenHash, holder: tokenHash.toString('hex') };
}

export function signInExpired(): AppError {
  return new AppError('unauthenticated', 'this sign-in has expired; start again');
}
