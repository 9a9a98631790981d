import { Type } from 'typebox';

import { nullable } from '#actions/fields.ts';
import type { AccountContext, SignedInContext } from '#actions/action_context.ts';
import { authenticationOptions, relyingPartyOf } from '#auth/second_factor/passkeys.ts';
import { newRecoveryCodes, recoveryCodeHash } from '#auth/second_factor/recovery_codes.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';

/** Recovery codes, shown once; null when there were some before. */
export const RecoveryCodes = nullable(Type.Array(Type.String(), { description: 'shown this once; each works once' }));

export const PasskeyOptions = Type.Unknown({ description: 'options of WebAuthn in JSON, for the browser' });

const CHALLENGE_MINUTES = 5;

export function challengeEnd(now: Temporal.Instant): Temporal.Instant {
  return now.add({ minutes: CHALLENGE_MINUTES });
}

/** Returns the options with which the browser asks for a passkey of this person; the challenge is kept for `holder`. */
export async function passkeyOptions(
  { stores, now, baseUrl }: AccountContext,
  userId: Id<'user'>,
  holder: string,
): Promise<object> {
  const passkeys = await stores.secondFactors.listPasskeys(userId);
  const options = await authenticationOptions(relyingPartyOf(baseUrl), passkeys);
  await stores.secondFactors.putChallenge(holder, options.challenge, now, challengeEnd(now));
  return options;
}

/** Counts a second factor that was added as shown in this session; the first brings recovery codes with it. */
export async function afterAdding(context: SignedInContext): Promise<{ recoveryCodes: string[] | null }> {
  const { stores, now, session } = context;
  const { userId, sessionId } = session;
  await stores.sessions.noteSecondFactor(sessionId, now);
  const { recoveryCodesLeft } = await stores.secondFactors.summaryOf(userId);
  return { recoveryCodes: recoveryCodesLeft > 0 ? null : await replaceCodes(context) };
}

/** Creates new recovery codes; the ones before stop working. */
export async function replaceCodes({ stores, session: { userId }, record }: SignedInContext): Promise<string[]> {
  const recoveryCodes = newRecoveryCodes();
  await stores.secondFactors.replaceRecoveryCodes(userId, recoveryCodes.map(recoveryCodeHash));
  record({ userId, action: 'replace_recovery_codes', target: userId, before: null, after: { replaced: true } });
  return recoveryCodes;
}
