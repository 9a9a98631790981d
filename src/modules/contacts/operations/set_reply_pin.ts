import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT, nullable } from '#actions/fields.ts';
import { callerUser } from '#modules/accounts/caller_user.ts';
import { hashPassword } from '#auth/passwords.ts';
import { forgetPinTries } from '#auth/reply_pins.ts';

export const setReplyPin = defineAction({
  name: 'set_reply_pin',
  consoleOnly: true,
  summary: 'Set the PIN that your replies by SMS and call must carry from now on, or with null require none.',
  permission: 'organization:view',
  effect: 'write',
  input: Type.Object(
    { pin: nullable(Type.String({ pattern: '^\\d{4,8}$', description: 'four to eight digits' })) },
    STRICT,
  ),
  result: Type.Object({ hasReplyPin: Type.Boolean() }),
  example: { pin: '4711' },
  prepare: async ({ pin }) => (pin === null ? null : await hashPassword(pin)),
  async handle({ pin }, { caller, stores, record }, pinHash) {
    const userId = callerUser(caller);
    const hadPin = (await stores.phoneNumbers.findPin(userId)) !== null;
    await stores.phoneNumbers.setPin(userId, pinHash);
    await forgetPinTries(stores, userId);
    const after = { hasReplyPin: pin !== null, ...(pin === null ? {} : { pinChanged: true }) };
    record({ target: userId, before: { hasReplyPin: hadPin }, after });
    return { hasReplyPin: pin !== null };
  },
});
