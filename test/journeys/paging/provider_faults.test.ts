import { ClientRequest } from 'node:http';

import twilio from 'twilio';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

import type { Fault } from '@tocsin/phone-simulator';
import { sendNotification } from '#modules/incidents/paging/send_notification.ts';
import { AppError } from '#kernel/errors.ts';
import { asId } from '#kernel/ids.ts';
import { DeliveryStore } from '#modules/notifications/store/delivery_store.ts';
import { PeopleStore } from '#modules/accounts/store/people_store.ts';
import { startMailServer } from '#test/kit/programs/mail_server.ts';
import { staffedWorld } from '#test/kit/staffed_world.ts';

interface Entry {
  readonly channel: string;
  readonly status: string;
  readonly reason: string | null;
  readonly attempts: number;
}

/** Anna is paged at once by SMS, call and mail, Bram by call after 15 minutes; the faults strike at Anna's number. */
async function annaIsPaged(...faults: readonly Fault[]) {
  const mail = await startMailServer();
  const w = await staffedWorld({ settings: { smtpUrl: mail.url, mailFrom: 'Tocsin <pager@example.com>' } });
  const [teamId, anna, bram] = await w.staff.teamOf('Anna', 'Bram');
  const alert = await w.staff.alert(teamId, [
    { afterMinutes: 0, channels: ['sms', 'call', 'email'], targetUserIds: [anna.userId] },
    { afterMinutes: 15, channels: ['call'], targetUserIds: [bram.userId] },
  ]);
  for (const fault of faults) w.phone.addFault({ ...fault, number: anna.phone });
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  return {
    w,
    mail,
    async entries(): Promise<Record<string, Entry>> {
      const { notifications } = await w.expectOk('get_incident', { incidentId });
      const ownNotifications = (notifications as (Entry & { userId: string })[]).filter(
        ({ userId }) => userId === anna.userId,
      );
      return Object.fromEntries(ownNotifications.map((entry) => [entry.channel, entry]));
    },
    sent: () => ({
      sms: w.phone.messages.filter(({ to }) => to === anna.phone).length,
      calls: w.phone.calls.filter(({ to }) => to === anna.phone).length,
      mails: mail.mails.length,
    }),
    bramIsCalled: () => w.phone.calls.some(({ to }) => to === bram.phone),
  };
}

describe('while the provider', () => {
  test.each([
    { kind: 'http_error', status: 503, code: 20503 },
    { kind: 'http_error', status: 500 },
    { kind: 'http_error', status: 429, code: 20429 },
    { kind: 'drop', when: 'before', on: 'message' },
  ] satisfies Fault[])(
    'answers nothing but $kind $status, mail arrives, and after five minutes the log says what became of the SMS',
    async (fault) => {
      const { w, entries, sent, bramIsCalled } = await annaIsPaged(fault);
      expect(await entries()).toMatchObject({ email: { status: 'sent' } });
      for (let halfMinutes = 0; halfMinutes < 14; halfMinutes += 1) await w.advance({ seconds: 30 });
      const { sms, email } = await entries();
      expect(email).toMatchObject({ status: 'sent', attempts: 1 });
      expect(sent()).toMatchObject({ sms: 0, mails: 1 });
      const expected = fault.kind === 'drop' ? { status: 'sent', reason: 'unconfirmed' } : { status: 'failed' };
      expect(sms).toMatchObject(expected);
      expect(bramIsCalled()).toBe(false);
      await w.advance({ minutes: 15 });
      expect(bramIsCalled()).toBe(true);
    },
  );

  test.each(['message', 'call'] as const)('refuses every %s, the other channel rings at once', async (on) => {
    const { entries, sent } = await annaIsPaged({ kind: 'http_error', status: 500, on });
    expect(sent()).toEqual(on === 'message' ? { sms: 0, calls: 1, mails: 1 } : { sms: 1, calls: 0, mails: 1 });
    expect((await entries())[on === 'message' ? 'sms' : 'call']).toMatchObject({
      status: 'queued',
      reason: 'provider_fault',
    });
  });

  test('is slow, each page leaves once', async () => {
    const { entries, sent } = await annaIsPaged({ kind: 'slow', byMs: 300 });
    expect(sent()).toEqual({ sms: 1, calls: 1, mails: 1 });
    expect(await entries()).toMatchObject({ sms: { status: 'delivered', attempts: 1 }, call: { attempts: 1 } });
  });
});

describe('a provider that asks for time', () => {
  const asks: Fault = { kind: 'http_error', status: 429, code: 20429, retryAfterSeconds: 40, on: 'message', times: 1 };

  test('gets it, and then accepts the page', async () => {
    const { w, entries, sent } = await annaIsPaged(asks);
    expect((await entries())['sms']).toMatchObject({ status: 'queued', reason: 'provider_busy', attempts: 1 });
    await w.advance({ seconds: 39 });
    expect(sent().sms).toBe(0);
    await w.advance({ seconds: 2 });
    expect(sent().sms).toBe(1);
    expect((await entries())['sms']).toMatchObject({ status: 'delivered', attempts: 2 });
  });

  test('a wait longer than the retries of a page fails the page', async () => {
    const { entries } = await annaIsPaged({ ...asks, retryAfterSeconds: 3_600 });
    expect((await entries())['sms']).toMatchObject({ status: 'failed', reason: 'provider_busy', attempts: 1 });
  });
});

test('a process that learns of its claim when the lease is over sends nothing, as another one has sent the page', async () => {
  const w = await staffedWorld();
  const teamId = await w.staff.team();
  const { userId, phone } = await w.staff.responder(teamId, 'Anna');
  const step = { afterMinutes: 0, channels: ['sms'] as const, targetUserIds: [userId] };
  const alert = await w.staff.alert(teamId, [step]);
  const claim = DeliveryStore.prototype.claim;
  const late: Promise<unknown>[] = [];
  const claiming = vi.spyOn(DeliveryStore.prototype, 'claim');
  onTestFinished(() => claiming.mockRestore());
  // What follows the claim is asked of this store: by then the lease is over, and another process has come.
  const asking = vi.spyOn(PeopleStore.prototype, 'findRole');
  onTestFinished(() => asking.mockRestore());
  const { findRole } = PeopleStore.prototype;
  claiming.mockImplementationOnce(async function (this: DeliveryStore, ...asked) {
    asking.mockImplementationOnce(async function (this: PeopleStore, ...whose) {
      w.clock.advance({ seconds: 20 });
      late.push(sendNotification(w.runtime, asId('notification', asked[0])));
      await late[0];
      return await findRole.apply(this, whose);
    });
    return await claim.apply(this, asked);
  });
  await alert.trigger();
  await w.runUntilIdle();
  await w.advance({ seconds: 20 });
  expect(late).toHaveLength(1);
  expect(w.phone.messages.filter(({ to }) => to === phone)).toHaveLength(1);
});

describe('a provider that says nothing', () => {
  test('after it accepted the SMS and the call is queried before anything is sent again', async () => {
    const { request } = twilio.RequestClient.prototype;
    const impatient = vi.spyOn(twilio.RequestClient.prototype, 'request').mockImplementation(function (
      this: InstanceType<typeof twilio.RequestClient>,
      options,
    ) {
      return request.call(this, { ...options, timeout: 1_000 });
    });
    onTestFinished(() => impatient.mockRestore());
    const hangs = { kind: 'hang', when: 'after', times: 1 } as const;
    const { w, entries, sent } = await annaIsPaged({ ...hangs, on: 'message' }, { ...hangs, on: 'call' });
    await w.advance({ seconds: 40 });
    expect(sent()).toMatchObject({ sms: 1, calls: 1 });
    const { sms, call } = await entries();
    expect([sms?.status, call?.status]).toEqual([
      expect.stringMatching(/^(sent|delivered)$/),
      expect.stringMatching(/^(sent|delivered)$/),
    ]);
  });

  test('is waited for half a minute, as one that answers late has taken the message, and asked in vain for ten seconds', async () => {
    const waiting = vi.spyOn(ClientRequest.prototype, 'setTimeout');
    onTestFinished(() => waiting.mockRestore());
    await annaIsPaged({ kind: 'drop', when: 'before', on: 'message', times: 1 }).then(({ w }) =>
      w.advance({ seconds: 9 }),
    );
    const waits = (waiting.mock.contexts as ClientRequest[]).flatMap((request, nth) =>
      request.path.startsWith('/2010-04-01/') ? [`${request.method} ${waiting.mock.calls[nth]?.[0]}`] : [],
    );
    expect([...new Set(waits)].toSorted()).toEqual(['GET 10000', 'POST 30000']);
  });

  test.each(['sms', 'call'] as const)('and did not accept the %s is tried once more', async (channel) => {
    const on = channel === 'sms' ? 'message' : 'call';
    const { w, entries, sent } = await annaIsPaged({ kind: 'drop', when: 'before', on, times: 1 });
    await w.advance({ seconds: 40 });
    expect(sent()).toMatchObject({ sms: 1, calls: 1 });
    expect((await entries())[channel]).toMatchObject({ attempts: 2 });
  });

  test('after it accepted the sms gets it once, though the database is away when the provider is queried', async () => {
    const { w, entries, sent } = await annaIsPaged(
      { kind: 'drop', when: 'after', on: 'message', times: 1 },
      { kind: 'callback_lost' },
    );
    const away = vi.spyOn(DeliveryStore.prototype, 'findUnclaimed');
    onTestFinished(() => away.mockRestore());
    away.mockRejectedValueOnce(new AppError('unavailable', 'away'));
    const faults: unknown[] = [];
    for (let i = 0; i < 6; i += 1) await w.advance({ seconds: 10 }).catch((fault: unknown) => faults.push(fault));
    expect(faults).toMatchObject([{ message: 'away' }]);
    expect(away.mock.calls.length).toBeGreaterThan(1);
    expect(sent()).toMatchObject({ sms: 1 });
    expect((await entries())['sms']?.status).toMatch(/^(sent|delivered)$/);
  });

  test('after it accepted the sms gets it once, though it cannot be queried for a while', async () => {
    const { w, sent } = await annaIsPaged(
      { kind: 'drop', when: 'after', on: 'message', times: 1 },
      { kind: 'callback_lost' },
      { kind: 'http_error', status: 503, on: 'lookup', times: 2 },
    );
    for (let i = 0; i < 6; i += 1) await w.advance({ seconds: 10 });
    expect(sent()).toMatchObject({ sms: 1 });
  });

  test('after it refused the sms twice for a moment is tried once more all the same', async () => {
    const { w, entries, sent } = await annaIsPaged(
      { kind: 'http_error', status: 503, on: 'message', times: 2 },
      { kind: 'drop', when: 'before', on: 'message', times: 1 },
    );
    for (let i = 0; i < 6; i += 1) await w.advance({ seconds: 10 });
    expect(sent()).toMatchObject({ sms: 1 });
    expect((await entries())['sms']).toMatchObject({ attempts: 4 });
  });

  test('about two incidents, of which it accepted the first, gets each page once', async () => {
    const w = await staffedWorld();
    const teamId = await w.staff.team();
    const { userId, phone } = await w.staff.responder(teamId, 'Anna');
    const step = { afterMinutes: 0, channels: ['sms'] as const, targetUserIds: [userId] };
    const alerts = [await w.staff.alert(teamId, [step]), await w.staff.alert(teamId, [step])];
    w.phone.addFault({ kind: 'drop', when: 'after', on: 'message', times: 1, number: phone });
    w.phone.addFault({ kind: 'drop', when: 'before', on: 'message', times: 1, number: phone });
    w.phone.addFault({ kind: 'callback_lost', number: phone });
    for (const alert of alerts) await alert.trigger();
    await w.runUntilIdle();
    for (let i = 0; i < 4; i += 1) await w.advance({ seconds: 10 });
    const texts = w.phone.messages.filter(({ to }) => to === phone).map(({ body }) => body);
    expect(texts).toHaveLength(2);
    expect(new Set(texts).size).toBe(2);
  });

  test('twice, and cannot be queried either, is not tried a third time: the log says unconfirmed', async () => {
    const { w, entries, sent } = await annaIsPaged({ kind: 'drop', when: 'after' }, { kind: 'callback_lost' });
    for (let i = 0; i < 12; i += 1) await w.advance({ seconds: 10 });
    expect((await entries())['sms']).toMatchObject({ status: 'sent', reason: 'unconfirmed' });
    expect(sent().sms).toBe(2);
  });
});
