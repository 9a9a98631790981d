import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { forgetPinTries, hashPassword, isSamePhoneCode, newPhoneCode } from '#auth/passwords.ts';
import { StrictObject } from '#kernel/action.ts';
import { AppError, notFound } from '#kernel/errors.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { requireWholeCaller } from '#modules/accounts/require_whole_session.ts';
import { callerUser } from '#modules/accounts/view.ts';
import { maskPhone } from '#modules/contacts/decide/masking.ts';
import { ASK_EVERY_DAYS, ASKS_MAX, NUMBER_STATES, numberStateOf } from '#modules/contacts/decide/number_campaign.ts';
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
    await requireWholeCaller(stores, caller);
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
    await requireWholeCaller(stores, caller);
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
    await requireWholeCaller(stores, caller);
    const hadPin = (await stores.phoneNumbers.findPin(userId)) !== null;
    await stores.phoneNumbers.setPin(userId, pinHash);
    await forgetPinTries(stores, userId);
    const after = { hasReplyPin: pin !== null, ...(pin === null ? {} : { pinChanged: true }) };
    record({ target: userId, before: { hasReplyPin: hadPin }, after });
    return { hasReplyPin: pin !== null };
  },
});

const SHOWN = 500;

export const getNumberCampaign = defineOperation({
  name: 'get_number_campaign',
  summary:
    'Show who of the members of teams has not confirmed their number or received a test, and when they were asked.',
  permission: 'organization:manage',
  effect: 'read',
  result: Type.Object({
    since: nullable(Timestamp),
    hasMail: Type.Boolean({ description: 'whether mail leaves this server; people are asked by mail' }),
    people: Type.Integer({ description: 'members of teams' }),
    done: Type.Integer({ description: 'members of teams with a confirmed number and a message that arrived' }),
    open: Type.Array(
      Type.Object({
        userId: IdText,
        name: Type.String(),
        state: Type.Enum([...NUMBER_STATES]),
        times: Type.Integer({ description: 'times they were asked' }),
        askedAt: nullable(Timestamp),
        nextAt: nullable(Timestamp),
      }),
      { description: `who still has something to do, by name; at most ${SHOWN}` },
    ),
  }),
  async handle(_input, { caller, stores, now, installation }) {
    const { numberCampaigns } = stores;
    const { simulatedIds } = installation;
    const campaign = await numberCampaigns.find(caller.orgId);
    const { people, done } = await numberCampaigns.count(caller.orgId, simulatedIds, now);
    const open = await numberCampaigns.listOpen(caller.orgId, simulatedIds, now, SHOWN);
    return {
      since: toTimestampOrNull(campaign?.since ?? null),
      hasMail: installation.hasMail,
      people,
      done,
      open: open.map(({ userId, name, times, askedAt, ...numbers }) => ({
        userId,
        name,
        state: numberStateOf(numbers),
        times: times ?? 0,
        askedAt: toTimestampOrNull(askedAt),
        nextAt:
          campaign === null || askedAt === null || (times ?? 0) >= ASKS_MAX
            ? null
            : toTimestamp(askedAt.add({ hours: 24 * ASK_EVERY_DAYS })),
      })),
    };
  },
});

export const startNumberCampaign = defineOperation({
  name: 'start_number_campaign',
  summary:
    'Ask every member of a team by mail to confirm their number and to receive a test, again every three days, five times at most.',
  permission: 'organization:manage',
  effect: 'write',
  result: Type.Object({ since: Timestamp }),
  async handle(_input, { caller, stores, now, record }) {
    const { orgId, actor } = caller;
    const isNew = await stores.numberCampaigns.start(orgId, actor.kind === 'user' ? actor.userId : null, now);
    const campaign = await stores.numberCampaigns.find(orgId);
    if (isNew) record({ target: orgId, before: { numberCampaign: false }, after: { numberCampaign: true } });
    return { since: toTimestamp(campaign?.since ?? now) };
  },
});

export const stopNumberCampaign = defineOperation({
  name: 'stop_number_campaign',
  summary: 'Stop asking people to confirm their numbers. What they have confirmed stays.',
  permission: 'organization:manage',
  effect: 'write',
  result: Type.Object({}),
  async handle(_input, { caller, stores, record }) {
    const { orgId } = caller;
    if ((await stores.numberCampaigns.find(orgId)) === null) return {};
    await stores.numberCampaigns.stop(orgId);
    record({ target: orgId, before: { numberCampaign: true }, after: { numberCampaign: false } });
    return {};
  },
});
