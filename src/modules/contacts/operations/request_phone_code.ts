import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { IdText, STRICT, Timestamp } from '#actions/fields.ts';
import { callerUser } from '#modules/accounts/caller_user.ts';
import { Phone } from '#modules/teams/view.ts';
import { newPhoneCode } from '#auth/phone_codes.ts';
import { maskPhone } from '#modules/contacts/decide/masking.ts';
import { deliverPage } from '#storage/queue/jobs/deliver_page.ts';
import { AppError, notFound } from '#kernel/errors.ts';
import { toTimestamp } from '#kernel/time.ts';

const WORKS_MINUTES = 10;

export const requestPhoneCode = defineAction({
  name: 'request_phone_code',
  consoleOnly: true,
  summary: 'Send a code by SMS to a phone number of your own, so that you can confirm that it is yours.',
  permission: 'organization:view',
  effect: 'write',
  input: Type.Object({ phone: Phone }, STRICT),
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
