import { Type } from 'typebox';

import { challengeEnd, PasskeyOptions } from '#modules/accounts/operations/second_factors.ts';
import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';
import { hasPasskeys, registrationOptions, relyingPartyOf } from '#auth/second_factor/passkeys.ts';
import { AppError } from '#kernel/errors.ts';

const PASSKEYS_MAX = 20;

export const beginPasskey = defineAction({
  name: 'begin_passkey',
  consoleOnly: true,
  scope: 'signed_in',
  route: 'POST /me/passkeys/options',
  stepUp: true,
  summary: 'Get the options with which the browser creates a passkey of yours. They expire after five minutes.',
  effect: 'write',
  input: Type.Object({}, STRICT),
  result: PasskeyOptions,
  conflict: `the base address has no host name, or you have ${PASSKEYS_MAX} passkeys`,
  example: {},
  async handle(_input, { stores, now, session, baseUrl }) {
    const party = relyingPartyOf(baseUrl);
    if (!hasPasskeys(party)) {
      throw new AppError('conflict', 'passkeys need a base address with a host name; use an authenticator app');
    }
    const present = await stores.secondFactors.listPasskeys(session.userId);
    if (present.length >= PASSKEYS_MAX) throw new AppError('conflict', `you have ${PASSKEYS_MAX} passkeys; remove one`);
    const options = await registrationOptions(party, session, present);
    await stores.secondFactors.putChallenge(session.sessionId, options.challenge, now, challengeEnd(now));
    return options;
  },
});
