import { beforeEach, describe, expect, test } from 'vitest';

import { createLayerOverride, deleteScheduleOverride } from '#modules/schedules/operations/create_schedule_override.ts';
import { swapShifts, undoShiftSwap } from '#modules/schedules/operations/swaps.ts';
import type { AnyOperation } from '#actions/action_context.ts';
import { remindOfShifts } from '#modules/schedules/shift_notices.ts';
import { storesOf } from '#modules/stores.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { type PushService, startPushService } from '#test/kit/programs/push_service.ts';
import { type MailServer, startMailServer } from '#test/kit/programs/mail_server.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';

let w: StaffedWorld;
let post: MailServer;
let anna: { userId: Id<'user'>; email: string };
let bram: { userId: Id<'user'>; email: string };
let scheduleId: string;
let seen: number;
beforeEach(async () => {
  post = await startMailServer();
  seen = 0;
  w = await staffedWorld({ settings: { smtpUrl: post.url, mailFrom: 'Tocsin <tocsin@example.com>' } });
  w.clock.set('2026-03-04T12:00:00Z');
  const teamId = await w.staff.team();
  [anna, bram] = [await w.staff.responder(teamId, 'Anna'), await w.staff.responder(teamId, 'Bram')];
  ({ scheduleId } = await w.expectOk('create_schedule', {
    teamId,
    name: 'Primary',
    timezone: 'Europe/Amsterdam',
    rotationConfig: { userIds: [anna.userId, bram.userId] },
    startAt: '2026-03-02T09:00',
    rotationType: 'weekly',
  }));
});

const as = (who: { userId: Id<'user'> }, operation: AnyOperation, input: object) =>
  runOperation(w, operation, memberCaller(w.orgId, who.userId, 'editor'), input);

/** Returns the people who were mailed since the last look, with the subject and the first sentences. */
async function mailed() {
  await w.runUntilIdle();
  const mails = post.mails.slice(seen);
  seen = post.mails.length;
  return mails.map(({ recipients, subject, text }) => ({
    to: recipients,
    subject,
    sentences: (text ?? '').split('\n\n').slice(1, -1),
  }));
}

test('whoever is put on call, and whoever loses the time, is mailed once, in the zone of the schedule', async () => {
  const window = { startAt: '2026-03-05T09:00', endAt: '2026-03-05T18:00' };
  const { overrideId } = await w.expectOk('create_schedule_override', { scheduleId, userId: bram.userId, ...window });
  const span = 'from Thu, 5 Mar 2026, 09:00 until Thu, 5 Mar 2026, 18:00 (Europe/Amsterdam)';
  expect(await mailed()).toEqual(
    expect.arrayContaining([
      {
        to: [bram.email],
        subject: '[Tocsin] You were put on call: Primary',
        sentences: [
          expect.stringMatching(`put you on call in Primary of .*, ${span.replaceAll(/[()]/g, String.raw`\$&`)}`),
        ],
      },
      {
        to: [anna.email],
        subject: '[Tocsin] A shift was taken over: Primary',
        sentences: [expect.stringContaining(`You are no longer on call in Primary`)],
      },
    ]),
  );
  // Anna takes it back herself: only Bram hears of it.
  await as(anna, deleteScheduleOverride, { overrideId });
  expect(await mailed()).toMatchObject([
    {
      to: [bram.email],
      subject: '[Tocsin] A shift was taken over: Primary',
      sentences: [expect.stringContaining('Anna gave that time')],
    },
  ]);
});

test('a swap is one mail to each of the two but the one who makes it, and so is its undoing', async () => {
  const shift = (userId: string, startAt: string, endAt: string) => ({ scheduleId, userId, startAt, endAt });
  const swap = {
    first: shift(anna.userId, '2026-03-04T12:00:00Z', '2026-03-09T08:00:00Z'),
    second: shift(bram.userId, '2026-03-09T08:00:00Z', '2026-03-16T08:00:00Z'),
  };
  const swapped = await as(anna, swapShifts, swap);
  expect(await mailed()).toMatchObject([
    {
      to: [bram.email],
      subject: '[Tocsin] Your shifts were swapped: Primary',
      sentences: [expect.stringContaining('put you on call'), expect.stringContaining('no longer on call')],
    },
  ]);
  const { first, second } = swapped;
  await as(w.owner, undoShiftSwap, { firstOverrideId: first.overrideId, secondOverrideId: second.overrideId });
  const told = (await mailed()).flatMap(({ to }) => to);
  expect(new Set(told)).toEqual(new Set([anna.email, bram.email]));
});

test('nobody is mailed of what changes nothing, or is past', async () => {
  const put = (userId: string, startAt: string, endAt: string) =>
    as(w.owner, createLayerOverride, { scheduleId, layerId: 'rotation', userId, startAt, endAt });
  await put(anna.userId, '2026-03-05T09:00', '2026-03-05T18:00');
  await put(bram.userId, '2026-03-03T09:00', '2026-03-03T18:00');
  expect(await mailed()).toEqual([]);
});

describe('by push', () => {
  const sub = async (service: PushService, person: { userId: Id<'user'> }, name: string) => {
    const { subscription } = service.browser(name, w.context.vapidKeys.publicKey);
    const { endpoint, keys } = subscription;
    const { pushSubscriptions } = storesOf(w.context.db.session());
    await pushSubscriptions.put(person.userId, { endpoint, ...keys, label: name }, w.clock.now());
  };
  const textsOf = (service: PushService) =>
    service.pushed.map(({ browser, payload: { title, body } }) => ({ browser, title, body }));

  test('an override is told to both who have it on, and to nobody who has it off', async () => {
    const service = await startPushService();
    await sub(service, anna, 'of Anna');
    await sub(service, bram, 'of Bram');
    const { teams } = await w.expectOk('list_teams');
    const { memberId } = teams[0].members.find(({ userId }: { userId: string }) => userId === anna.userId);
    await w.expectOk('update_team_member', { memberId, pushEnabled: false });
    const window = { startAt: '2026-03-05T09:00', endAt: '2026-03-05T18:00' };
    await w.expectOk('create_schedule_override', { scheduleId, userId: bram.userId, ...window });
    await w.runUntilIdle();
    expect(textsOf(service)).toEqual([
      {
        browser: 'of Bram',
        title: 'You were put on call: Primary',
        body: expect.stringMatching(/^An API key put you on call in Primary of .*, 09:00 until Thu, 5 Mar 2026, 18:00/),
      },
    ]);
    expect(service.pushed[0]?.payload.url).toContain(`/oncall/schedules/${scheduleId}`);
    expect(post.mails).toHaveLength(2);
  });

  test('whoever takes over is reminded an hour before, once, and by mail of shifts of a day or more', async () => {
    const service = await startPushService();
    await sub(service, bram, 'of Bram');
    await sub(service, anna, 'of Anna');
    // Bram takes over from Anna on Monday at 09:00 in Amsterdam.
    let doneAt: Temporal.Instant | null = null;
    w.clock.set('2026-03-09T06:30:00Z');
    for (let minutes = 0; minutes < 120; minutes += 30) {
      await remindOfShifts(w.runtime, doneAt);
      // A run that fails after it has told somebody is done again.
      await remindOfShifts(w.runtime, doneAt);
      doneAt = w.clock.now();
      await w.runUntilIdle();
      w.clock.advance({ minutes: 30 });
    }
    expect(textsOf(service)).toEqual([
      {
        browser: 'of Bram',
        title: 'You are on call soon: Primary',
        body: expect.stringMatching(
          /^You are on call in Primary of .* from Mon, 9 Mar 2026, 09:00 until Mon, 16 Mar 2026, 09:00 \(Europe\/Amsterdam\)\.$/,
        ),
      },
    ]);
    expect(await mailed()).toMatchObject([{ to: [bram.email], subject: '[Tocsin] You are on call soon: Primary' }]);
    expect(await mailed()).toEqual([]);
  });

  test('a shift of several pieces is reminded of as a whole', async () => {
    // Before and behind the first two hours of Bram's week, in which an override names him as well.
    const window = { startAt: '2026-03-09T09:00', endAt: '2026-03-09T11:00' };
    await w.expectOk('create_schedule_override', { scheduleId, userId: bram.userId, ...window });
    await mailed();
    w.clock.set('2026-03-09T07:20:00Z');
    await remindOfShifts(w.runtime, w.clock.now().subtract({ minutes: 25 }));
    expect(await mailed()).toMatchObject([
      { to: [bram.email], sentences: [expect.stringContaining('09:00 until Mon, 16 Mar 2026, 09:00')] },
    ]);
  });
});
