import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT, nullable, Timestamp } from '#actions/fields.ts';
import { hasPasskeys, relyingPartyOf } from '#auth/second_factor/passkeys.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';

const SecondFactorsView = Type.Object({
  passkeys: Type.Array(
    Type.Object({
      passkeyId: Type.String(),
      name: Type.String(),
      createdAt: Timestamp,
      lastUsedAt: nullable(Timestamp),
    }),
    { description: 'oldest first' },
  ),
  canAddPasskeys: Type.Boolean({ description: 'false where the base address has no host name' }),
  hasApp: Type.Boolean({ description: 'whether an authenticator app is set up' }),
  recoveryCodesLeft: Type.Integer(),
});

export const getSecondFactors = defineAction({
  name: 'get_second_factors',
  consoleOnly: true,
  scope: 'signed_in',
  route: 'GET /me/second-factors',
  summary: 'Show which second factors you have set up.',
  effect: 'read',
  input: Type.Object({}, STRICT),
  result: SecondFactorsView,
  example: {},
  async handle(_input, { stores: { secondFactors }, session: { userId }, baseUrl }) {
    const passkeys = await secondFactors.listPasskeys(userId);
    const { hasApp, recoveryCodesLeft } = await secondFactors.summaryOf(userId);
    return {
      passkeys: passkeys.map(({ id, name, createdAt, lastUsedAt }) => ({
        passkeyId: id,
        name,
        createdAt: toTimestamp(createdAt),
        lastUsedAt: toTimestampOrNull(lastUsedAt),
      })),
      canAddPasskeys: hasPasskeys(relyingPartyOf(baseUrl)),
      hasApp,
      recoveryCodesLeft,
    };
  },
});
