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

/** Begins the session of this browser; people with a second factor are asked for it first. */
export async function beginSession(context: AccountContext, userId: Id<'user'>): Promise<Static<typeof SignInView>> {
  const { stores, now } = context;
  const { passkeys, hasApp, recoveryCodesLeft } = await stores.secondFactors.summaryOf(userId);
  if (passkeys === 0 && !hasApp) return await openSession(context, userId, { hasShownFactor: false });
  const token = newSecretText(PENDING_PREFIX);
  await stores.secondFactors.insertPending(hashSecret(token), userId, now, now.add({ minutes: PENDING_MINUTES }));
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
  { hasShownFactor }: { readonly hasShownFactor: boolean },
): Promise<Static<typeof SignedInView>> {
  const { sessionId, token } = await startSession(stores, userId, browser, now);
  if (hasShownFactor) await stores.sessions.noteSecondFactor(sessionId, now);
  const after = { userAgent: browser.userAgent, ...(hasShownFactor ? { secondFactor: true } : {}) };
  record({ userId, action: 'sign_in', target: sessionId, before: null, after });
  const signedIn = await readSignedIn(stores, userId, sessionId);
  browser.giveSession(token, signedIn.user.email);
  return signedIn;
}

/** A sign-in that waits for the second factor. */
interface PendingSignIn {
  readonly userId: Id<'user'>;
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
  const userId = isSecretText(PENDING_PREFIX, token) ? await secondFactors.findPending(tokenHash, now) : null;
  if (userId === null) throw signInExpired();
  return { userId, tokenHash, holder: tokenHash.toString('hex') };
}

export function signInExpired(): AppError {
  return new AppError('unauthenticated', 'this sign-in has expired; start again');
}
