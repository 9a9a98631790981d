import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { IdText, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { hashPassword } from '#auth/passwords.ts';
import { forgetPinTries, isSamePhoneCode, newPhoneCode } from '#auth/reply_pins.ts';
import { AppError, notFound } from '#kernel/errors.ts';
import { toTimestamp } from '#kernel/time.ts';
import { callerUser } from '#modules/accounts/view.ts';
import { maskPhone } from '#modules/contacts/decide/masking.ts';
import { Phone } from '#modules/teams/view.ts';
import { deliverPage } from '#storage/queue/jobs.ts';

const WORKS_MINUTES = 10;

export const requestPhoneCode = defineOperation({
  name: 'request_phone_code',
  summary: 'Send a code by SMS to a phone number of your own, so that you can confirm that it is yours.',
  permission: 'organization:view',
  effect: 'write',
  input: StrictObject({ phone: Phone }),
  result: Type.Object({ notificationId: IdText, expiresAt: Timestamp }),
  conflict: 'SMS is not set up on this server, or the number is confirmed already',
  example: { phone: '+31612345678' },
  async handle({ phone }, { caller, stores, now, enqueue, record, configuredChannels, installation }) {
    const userId = callerUser(caller);
    if (!configuredChannels.has('sms')) throw new AppError('conflict', 'SMS is not set up on this server');
    if (!(await stores.teams.listPhonesOf(caller.orgId, userId)).includes(phone)) {
      throw notFound('phone', 'phone number of yours in any team');
    }
    if (await stores.phoneNumbers.isConfirmed(userId, phone)) {
      throw new AppError('conflict', 'this number is already confirmed');
    }
    const since = now.subtract({ hours: 24 });
    const { phoneCodesPerDay } = installation.limits;
    if ((await stores.notifications.countAskedFor('code', userId, 'sms', { since, now })) >= phoneCodesPerDay) {
      throw new AppError('rate_limited', `no more than ${phoneCodesPerDay} codes a day`, {
        limit: 'phoneCodesPerDay',
        retryAfterSeconds: 3_600,
      });
    }
    const [notificationId] = await stores.notifications.insert(
      [
        {
          orgId: caller.orgId,
          incidentId: null,
          stepIndex: null,
          kind: 'code',
          userId,
          channel: 'sms',
          address: phone,
          status: 'queued',
          reason: null,
        },
      ],
      now,
    );
    if (notificationId === undefined) throw new Error('the message was not stored');
    const expiresAt = now.add({ minutes: WORKS_MINUTES });
    const code = newPhoneCode();
    await stores.phoneNumbers.insertCode({ notificationId, userId, phone, code }, expiresAt);
    enqueue(deliverPage, { notificationId });
    record({ target: userId, before: null, after: { phone: maskPhone(phone), codeSent: true } });
    return { notificationId, expiresAt: toTimestamp(expiresAt) };
  },
});

const TRIES_MAX = 5;

export const confirmPhone = defineOperation({
  name: 'confirm_phone',
  summary:
    'Confirm a phone number of your own by the code that was sent to it. From then on only you, or an owner or admin, changes it.',
  permission: 'organization:view',
  effect: 'write',
  input: StrictObject({ phone: Phone, code: Type.String({ pattern: '^\\d{6}$', description: 'six digits' }) }),
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

export const setReplyPin = defineOperation({
  name: 'set_reply_pin',
  summary: 'Set the PIN that your replies by SMS and call must carry from now on, or with null require none.',
  permission: 'organization:view',
  effect: 'write',
  input: StrictObject({ pin: nullable(Type.String({ pattern: '^\\d{4,8}$', description: 'four to eight digits' })) }),
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
