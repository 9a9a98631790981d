import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';
import { callerUser } from '#modules/accounts/caller_user.ts';
import { Phone } from '#modules/teams/view.ts';
import { isSamePhoneCode } from '#auth/phone_codes.ts';
import { maskPhone } from '#modules/contacts/decide/masking.ts';
import { AppError } from '#kernel/errors.ts';

const TRIES_MAX = 5;

export const confirmPhone = defineAction({
  name: 'confirm_phone',
  consoleOnly: true,
  summary:
    'Confirm a phone number of your own by the code that was sent to it. From then on only you, or an owner or admin, changes it.',
  permission: 'organization:view',
  effect: 'write',
  input: Type.Object({ phone: Phone, code: Type.String({ pattern: '^\\d{6}$', description: 'six digits' }) }, STRICT),
  result: Type.Object({
    confirmed: Type.Boolean(),
    triesLeft: Type.Integer({ description: 'wrong codes that may still be tried; 0 once it is confirmed' }),
  }),
  conflict: 'no code is on its way to this number, or too many wrong ones were tried',
  example: { phone: '+31612345678', code: '123456' },
  async handle({ phone, code }, { caller, stores, now, record }) {
    const userId = callerUser(caller);
    const sent = await stores.phoneNumbers.lockCode(userId, phone, now);
    if (sent === null) throw new AppError('conflict', 'no valid code was sent to this number; ask for a new one');
    if (sent.wrongTries >= TRIES_MAX) throw new AppError('conflict', 'too many wrong codes; ask for a new one');
    if (!isSamePhoneCode(sent.code, code)) {
      await stores.phoneNumbers.countWrongTry(sent.notificationId);
      return { confirmed: false, triesLeft: TRIES_MAX - sent.wrongTries - 1 };
    }
    await stores.phoneNumbers.confirm(userId, phone, now, sent.notificationId);
    record({ target: userId, before: null, after: { phone: maskPhone(phone), confirmed: true } });
    return { confirmed: true, triesLeft: 0 };
  },
});
