import { ClientRequest } from 'node:http';

import twilio from 'twilio';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';

import type { Fault } from '@tocsin/phone-simulator';
import { sendNotification } from '#modules/incidents/paging/send_notification.ts';
import { AppError } from '#kernel/errors.ts';
import { asId } from '#kernel/ids.ts';
import { DeliveryStore } from '#modules/notifications/store/delivery_store.ts';
import { PeopleStore } from '#modules/accounts/store/people_store.ts';
import { type MailServer, startMailServer } from '#test/kit/programs/mail_server.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';

interface Entry {
  readonly channel: string;
  readonly status: string;
  readonly reason: string | null;
  readonly attempts: number;
}

/** Outcome of the pages of one person. */
interface Seen {
  /** The last of each channel. */
  readonly entries: Readonly<Record<string, Entry>>;
  readonly sent: { readonly sms: number; readonly calls: number; readonly mails: number };
  readonly isBramCalled: boolean;
}

/** Starts a world whose mail goes out by a server of its own. */
async function pagingWorld({ keepOpen = false } = {}) {
  const mail = await startMailServer({ keepOpen });
  const settings = { smtpUrl: mail.url, mailFrom: 'Tocsin <pager@example.com>' };
  return { mail, w: await staffedWorld({ settings, keepOpen }) };
}

/** Anna is paged at once by SMS, call and mail, Bram by call after 15 minutes; the faults strike at Anna's number. */
async function given(
  { w, mail }: { readonly w: StaffedWorld; readonly mail: MailServer },
  faults: readonly Fault[],
): Promise<() => Promise<Seen>> {
  const [teamId, anna, bram] = await w.staff.teamOf('Anna', 'Bram');
  const alert = await w.staff.alert(teamId, [
    { afterMinutes: 0, channels: ['sms', 'call', 'email'], targetUserIds: [anna.userId] },
    { afterMinutes: 15, channels: ['call'], targetUserIds: [bram.userId] },
  ]);
  for (const fault of faults) w.phone.addFault({ ...fault, number: anna.phone });
  const incidentId = await alert.trigger();
  return async () => {
    const { notifications } = await w.expectOk('get_incident', { incidentId });
    const own = (notifications as (Entry & { userId: string })[]).filter(({ userId }) => userId === anna.userId);
    return {
      entries: Object.fromEntries(own.map((entry) => [entry.channel, entry])),
      sent: {
        sms: w.phone.messages.filter(({ to }) => to === anna.phone).length,
        calls: w.phone.calls.filter(({ to }) => to === anna.phone).length,
        mails: mail.mails.filter(({ recipients }) => recipients.includes(anna.email)).length,
      },
      isBramCalled: w.phone.calls.some(({ to }) => to === bram.phone),
    };
  };
}

async function annaIsPaged(...faults: readonly Fault[]) {
  const world = await pagingWorld();
  const see = await given(world, faults);
  await world.w.runUntilIdle();
  return { ...world, see };
}

/** Faults that strike at one person each, and the seconds after the page at which the outcome is read. */
const ROWS = {
  'http_error 503': { faults: [{ kind: 'http_error', status: 503, code: 20503 }], seenAt: [0, 420, 1_320] },
  'http_error 500': { faults: [{ kind: 'http_error', status: 500 }], seenAt: [0, 420, 1_320] },
  'http_error 429': { faults: [{ kind: 'http_error', status: 429, code: 20429 }], seenAt: [0, 420, 1_320] },
  'a drop': { faults: [{ kind: 'drop', when: 'before', on: 'message' }], seenAt: [0, 420, 1_320] },
  'refuses message': { faults: [{ kind: 'http_error', status: 500, on: 'message' }], seenAt: [0] },
  'refuses call': { faults: [{ kind: 'http_error', status: 500, on: 'call' }], seenAt: [0] },
  'is slow': { faults: [{ kind: 'slow', byMs: 300 }], seenAt: [0] },
  'asks for time': { faults: [asksFor(40)], seenAt: [0, 39, 41] },
  'asks for an hour': { faults: [asksFor(3_600)], seenAt: [0] },
  'did not accept the sms': { faults: [{ kind: 'drop', when: 'before', on: 'message', times: 1 }], seenAt: [41] },
  'did not accept the call': { faults: [{ kind: 'drop', when: 'before', on: 'call', times: 1 }], seenAt: [41] },
  'cannot be queried': {
    faults: [
      { kind: 'drop', when: 'after', on: 'message', times: 1 },
      { kind: 'callback_lost' },
      { kind: 'http_error', status: 503, on: 'lookup', times: 2 },
    ],
    seenAt: [60],
  },
  'refused twice': {
    faults: [
      { kind: 'http_error', status: 503, on: 'message', times: 2 },
      { kind: 'drop', when: 'before', on: 'message', times: 1 },
    ],
    seenAt: [60],
  },
  'says nothing twice': { faults: [{ kind: 'drop', when: 'after' }, { kind: 'callback_lost' }], seenAt: [120] },
} satisfies Record<string, { readonly faults: readonly Fault[]; readonly seenAt: readonly number[] }>;

function asksFor(retryAfterSeconds: number): Fault {
  return { kind: 'http_error', status: 429, code: 20429, retryAfterSeconds, on: 'message', times: 1 };
}

const WALK = [0, 10, 20, 30, 39, 41, 50, 60, 70, 80, 90, 100, 110, 120, 150, 180, 240, 300, 330, 360, 420, 1_320];

describe('a provider', () => {
  const seen: Record<string, Seen[]> = {};
  const seenOf = (row: keyof typeof ROWS) => seen[row]!;

  beforeAll(async () => {
    const world = await pagingWorld({ keepOpen: true });
    const { w, mail } = world;
    const rows: { readonly name: string; readonly seenAt: readonly number[]; readonly see: () => Promise<Seen> }[] = [];
    for (const [name, { faults, seenAt }] of Object.entries(ROWS)) {
      rows.push({ name, seenAt, see: await given(world, faults) });
    }
    for (const [index, seconds] of WALK.entries()) {
      await w.advance({ seconds: seconds - (WALK[index - 1] ?? 0) });
      for (const { name, seenAt, see } of rows) if (seenAt.includes(seconds)) (seen[name] ??= []).push(await see());
    }
    await w.close();
    await mail.close();
  });

  test.each(['http_error 503', 'http_error 500', 'http_error 429', 'a drop'] as const)(
    'answers nothing but %s: mail arrives, and after five minutes the log says what became of the SMS',
    (fault) => {
      const [atOnce, later, atLast] = seenOf(fault);
      expect(atOnce!.entries).toMatchObject({ email: { status: 'sent' } });
      const expected = fault === 'a drop' ? { status: 'sent', reason: 'unconfirmed' } : { status: 'failed' };
      expect(later).toMatchObject({
        entries: { email: { status: 'sent', attempts: 1 }, sms: expected },
        sent: { sms: 0, mails: 1 },
        isBramCalled: false,
      });
      expect(atLast!.isBramCalled).toBe(true);
    },
  );

  test('refuses every message or every call: the other channel rings at once', () => {
    const refused = { status: 'queued', reason: 'provider_fault' };
    expect(seenOf('refuses message')).toMatchObject([
      { sent: { sms: 0, calls: 1, mails: 1 }, entries: { sms: refused } },
    ]);
    expect(seenOf('refuses call')).toMatchObject([
      { sent: { sms: 1, calls: 0, mails: 1 }, entries: { call: refused } },
    ]);
  });

  test('is slow: each page leaves once', () => {
    const entries = { sms: { status: 'delivered', attempts: 1 }, call: { attempts: 1 } };
    expect(seenOf('is slow')).toMatchObject([{ sent: { sms: 1, calls: 1, mails: 1 }, entries }]);
  });

  test('asks for time, gets it, and then accepts the page; a wait longer than the retries of a page fails it', () => {
    expect(seenOf('asks for time')).toMatchObject([
      { sent: { sms: 0 }, entries: { sms: { status: 'queued', reason: 'provider_busy', attempts: 1 } } },
      { sent: { sms: 0 } },
      { sent: { sms: 1 }, entries: { sms: { status: 'delivered', attempts: 2 } } },
    ]);
    expect(seenOf('asks for an hour')).toMatchObject([
      { entries: { sms: { status: 'failed', reason: 'provider_busy', attempts: 1 } } },
    ]);
  });

  test.each(['sms', 'call'] as const)('says nothing and did not accept the %s: it is tried once more', (channel) => {
    expect(seenOf(`did not accept the ${channel}`)).toMatchObject([
      { sent: { sms: 1, calls: 1 }, entries: { [channel]: { attempts: 2 } } },
    ]);
  });

  test('says nothing after it accepted the sms, and cannot be queried for a while: it gets it once', () => {
    expect(seenOf('cannot be queried')).toMatchObject([{ sent: { sms: 1 } }]);
  });

  test('says nothing after it refused the sms twice for a moment: it is tried once more all the same', () => {
    expect(seenOf('refused twice')).toMatchObject([{ sent: { sms: 1 }, entries: { sms: { attempts: 4 } } }]);
  });

  test('says nothing twice, and cannot be queried either: it is not tried a third time, and the log says unconfirmed', () => {
    expect(seenOf('says nothing twice')).toMatchObject([
      { sent: { sms: 2 }, entries: { sms: { status: 'sent', reason: 'unconfirmed' } } },
    ]);
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
      return request.call(this, { ...options, timeout: 500 });
    });
    onTestFinished(() => impatient.mockRestore());
    const hangs = { kind: 'hang', when: 'after', times: 1 } as const;
    const { w, see } = await annaIsPaged({ ...hangs, on: 'message' }, { ...hangs, on: 'call' });
    await w.advance({ seconds: 40 });
    const {
      sent,
      entries: { sms, call },
    } = await see();
    expect(sent).toMatchObject({ sms: 1, calls: 1 });
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

  test('after it accepted the sms gets it once, though the database is away when the provider is queried', async () => {
    const { w, see } = await annaIsPaged(
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
    const { sent, entries } = await see();
    expect(sent.sms).toBe(1);
    expect(entries['sms']?.status).toMatch(/^(sent|delivered)$/);
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
});
