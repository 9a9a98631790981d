import { AsyncLocalStorage } from 'node:async_hooks';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { AppError } from '#kernel/errors.ts';
import { asId } from '#kernel/ids.ts';
import { fireStep } from '#modules/incidents/paging/fire_step.ts';
import { sendNotification } from '#modules/incidents/paging/send_notification.ts';
import type { ChannelSender, Delivery } from '#notify/channel.ts';
import { type MailServer, startMailServer } from '#test/kit/programs/mail_server.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';

interface Page {
  readonly notificationId: string;
  readonly userId: string;
  readonly status: string;
}

/** Runs something as another process would, in no context of this one. */
const fresh = AsyncLocalStorage.snapshot();

let mail: MailServer;
let w: StaffedWorld;
beforeAll(async () => {
  mail = await startMailServer({ keepOpen: true });
  w = await staffedWorld({ settings: { smtpUrl: mail.url, mailFrom: 'Tocsin <pager@example.com>' }, keepOpen: true });
});
afterAll(async () => {
  await w.close();
  await mail.close();
});

/** A page to Anna on one channel that no process has sent yet; Bram is called after 15 minutes. */
async function pageToAnna(channel: 'sms' | 'call' | 'email') {
  const [teamId, anna, bram] = await w.staff.teamOf('Anna', 'Bram');
  const alert = await w.staff.alert(teamId, [
    { afterMinutes: 0, channels: [channel], targetUserIds: [anna.userId] },
    { afterMinutes: 15, channels: ['call'], targetUserIds: [bram.userId] },
  ]);
  const incidentId = await alert.trigger();
  await fireStep(w.runtime, incidentId, 0);
  const page = async (): Promise<Page> => {
    const { notifications } = await w.expectOk('get_incident', { incidentId });
    return (notifications as Page[]).find(({ userId }) => userId === anna.userId)!;
  };
  const { notificationId } = await page();
  const sender = w.runtime.senders.get(channel)!;
  return {
    page,
    acknowledge: () => w.expectOk('acknowledge_incident', { incidentId }),
    send: sender.send,
    /** A process tries to send it, by this function instead of the channel's. */
    async trySending(send: ChannelSender['send'] = sender.send) {
      const senders = new Map([...w.runtime.senders, [channel, { ...sender, send }] as const]);
      await fresh(() => sendNotification({ ...w.runtime, senders }, asId('notification', notificationId)));
    },
    countSent: () =>
      ({
        sms: w.phone.messages.filter(({ to }) => to === anna.phone),
        call: w.phone.calls.filter(({ to }) => to === anna.phone),
        email: mail.mails.filter(({ recipients }) => recipients.includes(anna.email)),
      })[channel].length,
    isBramCalled: () => w.phone.calls.some(({ to }) => to === bram.phone),
  };
}

test.each(['sms', 'call', 'email'] as const)(
  'a process that is frozen as it begins to send a page by %s sends nothing once another one has sent it',
  async (channel) => {
    const { send, page, trySending, countSent } = await pageToAnna(channel);
    await trySending(async (outgoing) => {
      w.clock.advance({ seconds: 20 });
      await trySending();
      return await send(outgoing);
    });
    await w.advance({ seconds: 20 });
    expect(countSent()).toBe(1);
    expect((await page()).status).toMatch(/^(sent|delivered)$/);
  },
);

test('a process that was frozen and still has the page sends it', async () => {
  const { send, trySending, countSent } = await pageToAnna('sms');
  let tries = 0;
  await trySending(async (outgoing) => {
    if ((tries += 1) === 1) w.clock.advance({ seconds: 20 });
    return await send(outgoing);
  });
  expect({ tries, sent: countSent() }).toEqual({ tries: 2, sent: 1 });
  await w.advance({ seconds: 20 });
  expect(countSent()).toBe(1);
});

test.each([
  ['sms', 3],
  ['call', 3],
  ['email', 3],
  ['sms', 360],
] as const)(
  'a page by %s whose sender died is not sent by another process %d seconds later once its incident is acknowledged',
  async (channel, seconds) => {
    const { page, trySending, countSent, acknowledge } = await pageToAnna(channel);
    const dying = trySending(() => Promise.reject(new AppError('unavailable', 'this process has died')));
    await expect(dying).rejects.toThrow('died');
    await acknowledge();
    w.clock.advance({ seconds });
    await trySending();
    const cancelled = { sent: 0, status: 'cancelled', reason: 'acknowledged' };
    expect({ sent: countSent(), ...(await page()) }).toMatchObject(cancelled);
  },
);

const LATE: readonly Delivery[] = [
  { kind: 'retry', reason: 'provider_unreachable' },
  { kind: 'uncertain', reason: 'provider_silent' },
  { kind: 'rejected', reason: 'provider_refused_400' },
];

test.each(LATE)(
  'a process that thaws with the outcome $kind changes nothing while another one is sending the page',
  async (late) => {
    const { page, send, trySending, countSent } = await pageToAnna('sms');
    const thawed = Promise.withResolvers<void>();
    const sending: Promise<void>[] = [];
    await trySending(async () => {
      w.clock.advance({ seconds: 20 });
      const begun = Promise.withResolvers<void>();
      sending.push(
        trySending(async (outgoing) => {
          begun.resolve();
          await thawed.promise;
          return await send(outgoing);
        }),
      );
      await begun.promise;
      return late;
    });
    // Less than a lease, and enough for a retry.
    w.clock.advance({ seconds: 2 });
    await trySending();
    expect(countSent()).toBe(0);
    thawed.resolve();
    await Promise.all(sending);
    await w.advance({ seconds: 20 });
    expect(countSent()).toBe(1);
    expect((await page()).status).toBe('delivered');
  },
);

test('a process that thaws minutes later does not say that a page failed that another one has sent', async () => {
  const { page, trySending, isBramCalled } = await pageToAnna('sms');
  await trySending(async () => {
    w.clock.advance({ seconds: 20 });
    await trySending();
    w.clock.advance({ minutes: 6 });
    return { kind: 'uncertain', reason: 'provider_silent' };
  });
  await w.runUntilIdle();
  expect((await page()).status).toMatch(/^(sent|delivered)$/);
  expect(isBramCalled()).toBe(false);
});
