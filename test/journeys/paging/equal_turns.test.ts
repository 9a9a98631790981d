import { expect, test } from 'vitest';

import type { Id } from '#kernel/ids.ts';
import type { Channel } from '#modules/contacts/decide/channel.ts';
import type { ChannelSender } from '#notify/channel.ts';
import { storesOf } from '#modules/stores.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { openSweep } from '#workers/pager_role.ts';
import { happenings, watchTransactions } from '#test/kit/when.ts';

interface Person {
  readonly orgId: Id<'org'>;
  readonly userId: Id<'user'>;
}

/** Messages that are due, of which no job knows. */
async function dueMessages(
  w: StaffedWorld,
  { orgId, userId }: Person,
  name: string,
  count: number,
  channel: Channel = 'sms',
): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, index) => `${name}-${index}`);
  await w.context.db.sql.run(
    `insert into notifications (id, org_id, kind, user_id, channel, address, status, due_at, created_at, updated_at)
     select id, $2, 'test', $3, $5, '+31612345678', 'queued', $4, $4, $4 from unnest($1::text[]) id`,
    [ids, orgId, userId, w.clock.now().toString(), channel],
  );
  return ids;
}

/** An organization with many messages that are due, and another with one that is due a moment later. */
async function manyAndOne(many: number) {
  const w = await staffedWorld();
  const other = await w.given.organization('Other');
  const crowd = await dueMessages(w, { orgId: w.orgId, userId: w.owner.userId }, 'crowd', many);
  w.clock.advance({ milliseconds: 100 });
  const [single = ''] = await dueMessages(w, { orgId: other.orgId, userId: other.owner.userId }, 'single', 1);
  w.clock.advance({ seconds: 1 });
  return { w, crowd, single };
}

test('overdue messages and steps are handled organization by organization, however many one has', async () => {
  const { w, single } = await manyAndOne(50);
  const { deliveries } = storesOf(w.context.db.session());
  expect((await deliveries.listDue(w.clock.now(), 5)).map(({ id }) => id)).toContain(single);
});

test('a provider that does not answer one organization delays neither the pages of another nor any steps', async () => {
  const { w, crowd, single } = await manyAndOne(50);
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const alert = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] }]);
  const incidentId = await alert.trigger();
  w.clock.advance({ seconds: 1 });
  const { all: asked, happen: ask, hold } = happenings<string>();
  const silent = Promise.withResolvers<void>();
  const sender: ChannelSender = {
    uncertainAttemptsMax: 1,
    load: async () => {},
    listSent: async () => [],
    async send({ notificationId }) {
      ask(notificationId);
      if (notificationId !== single) await silent.promise;
      return { kind: 'accepted', providerId: notificationId };
    },
  };
  const sweep = openSweep({ ...w.runtime, senders: new Map([['sms', sender]]) });
  await sweep.sweepMessages();
  await hold(() => asked.includes(single));
  const whenFired = watchTransactions(w.context);
  await sweep.sweepSteps();
  await whenFired();
  const { stepTimers } = storesOf(w.context.db.session());
  expect(await stepTimers.listDueSteps(w.clock.now(), 10)).toEqual([]);
  await sweep.sweepMessages();
  expect(asked.length).toBeLessThan(crowd.length);
  silent.resolve();
  await sweep.settled();
  expect(asked.toSorted()).toEqual([...crowd, single].toSorted());
  expect(incidentId).toBeDefined();
});

test('a provider that does not answer delays no page of the same organization by another channel', async () => {
  const w = await staffedWorld();
  const person = { orgId: w.orgId, userId: w.owner.userId };
  await dueMessages(w, person, 'crowd', 20);
  w.clock.advance({ milliseconds: 100 });
  await dueMessages(w, person, 'mail', 1, 'email');
  w.clock.advance({ seconds: 1 });
  const silent = Promise.withResolvers<void>();
  const mailed = Promise.withResolvers<string>();
  const sender: ChannelSender = {
    uncertainAttemptsMax: 1,
    load: async () => {},
    listSent: async () => [],
    async send({ notificationId }) {
      await silent.promise;
      return { kind: 'accepted', providerId: notificationId };
    },
  };
  const mail: ChannelSender = {
    ...sender,
    async send({ notificationId }) {
      mailed.resolve(notificationId);
      return { kind: 'accepted', providerId: notificationId };
    },
  };
  const sweep = openSweep({
    ...w.runtime,
    senders: new Map<Channel, ChannelSender>([
      ['sms', sender],
      ['email', mail],
    ]),
  });
  await sweep.sweepMessages();
  expect(await mailed.promise).toBe('mail-0');
  silent.resolve();
  await sweep.settled();
});

test('check-ins are looked at organization by organization, however many services of one send some', async () => {
  const w = await staffedWorld();
  const other = await w.given.organization('Other');
  const ofServices = async ({ orgId, orgKey: key }: typeof other, services: number, each: number): Promise<void> => {
    for (let service = 0; service < services; service += 1) {
      const { serviceId } = await w.given.service({ key });
      await w.context.db.sql.run(
        `insert into check_ins (org_id, service_id, slug, environment, run_id, is_named, status, received_at)
         select $1, $2, 'nightly', 'production', n::text, false, 'ok', $3 from generate_series(1, $4) n`,
        [orgId, serviceId, w.clock.now().toString(), each],
      );
    }
  };
  await ofServices(w, 5, 30);
  await ofServices(other, 1, 2);
  const waiting = await storesOf(w.context.db.session()).checkIns.listWaiting(100);
  expect(waiting).toHaveLength(100);
  expect(waiting.filter(({ orgId }) => orgId === other.orgId)).toHaveLength(2);
});
