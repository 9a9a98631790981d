import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';

import type { Id } from '#kernel/ids.ts';
import { storesOf } from '#modules/stores.ts';
import { eventAt, groupAndStore, withMessage } from '#test/modules/exceptions/given_events.ts';
import { fileWorld, type World } from '#test/kit/world.ts';
import { ExceptionCounting } from '#modules/exceptions/count_exceptions.ts';
import { happenings } from '#test/kit/when.ts';
import { ExceptionCountStore } from '#modules/exceptions/store/exception_count_store.ts';

const w = await fileWorld();

let serviceId: Id<'service'>;
beforeEach(async () => {
  ({ serviceId } = await w.given.service());
});

const counts = () => storesOf(w.context.db.session()).exceptionCounts;
async function run(): Promise<void> {
  const counting = new ExceptionCounting({ ...w.context, exceptions: w.context.actions.exceptions });
  await counting.run();
  await counting.settled();
}

async function arrive(...given: Parameters<typeof eventAt>[1][]): Promise<Id<'group'>> {
  const events = given.map((one) => eventAt(w, one));
  const [group] = await groupAndStore(w, serviceId, events);
  await counts().markDue([group!.groupId], w.clock.now());
  return group!.groupId;
}

async function countOf(groupId: Id<'group'>): Promise<number | undefined> {
  return (await counts().find([groupId])).get(groupId)?.events;
}

test('counts all that is stored, an event that was sent twice once, by day, environment and release', async () => {
  const twice = { eventId: 'a'.repeat(32), ago: { hours: 24 }, release: '1.0' };
  const groupId = await arrive(
    twice,
    twice,
    { release: '1.1', user: { id: '8', email: null, username: null, ip: null } },
    { release: '1.1', environment: 'staging' },
  );
  await run();
  const row = (await counts().find([groupId])).get(groupId)!;
  const today = w.clock.now().toString().slice(0, 10);
  const yesterday = w.clock.now().subtract({ hours: 24 }).toString().slice(0, 10);
  expect(row).toMatchObject({ events: 3, users: 2, isHandled: false, releasesTotal: 2 });
  expect(row.days).toEqual([
    [yesterday, 1],
    [today, 2],
  ]);
  expect(row.environments).toEqual([
    { value: 'production', count: 2 },
    { value: 'staging', count: 1 },
  ]);
  expect(row.releases).toMatchObject([
    { release: '1.1', events: 2, users: 2 },
    { release: '1.0', events: 1, users: 1 },
  ]);
});

test('a group that events come to while it is counted is counted again after a rest', async () => {
  const groupId = await arrive({});
  const [taken] = await counts().takeDue(w.clock.now(), 10);
  expect(taken).toMatchObject({ id: groupId, serviceId });
  await arrive({});
  const totals = (
    await w.context.actions.exceptions.counter.count([
      { serviceId, groupId, keptSince: w.clock.now().subtract({ hours: 1 }) },
    ])
  ).get(groupId)!;
  const stale = { ...totals, events: 1 };
  await counts().save([{ group: taken!, totals: stale, restsUntil: w.clock.now().add({ seconds: 4 }) }], w.clock.now());
  await run();
  expect(await countOf(groupId)).toBe(1);
  w.clock.advance({ seconds: 5 });
  await run();
  expect(await countOf(groupId)).toBe(2);
});

test('lists of groups take counts that are stored, and count again what events have come to since', async () => {
  const groupId = await arrive({}, { user: null });
  const listed = async () => (await w.expectOk('list_exception_groups', { serviceId })).groups;
  const shown = [{ groupId, eventCount: 2, userCount: 1 }];
  expect(await listed()).toMatchObject(shown);
  await run();
  const { exceptions } = w.context.actions;
  const counted = vi.spyOn(exceptions, 'countByGroup');
  onTestFinished(() => counted.mockRestore());
  expect(await listed()).toMatchObject(shown);
  expect(counted).not.toHaveBeenCalled();
  await arrive({});
  expect(await listed()).toMatchObject([{ groupId, eventCount: 3, userCount: 1 }]);
  await run();
  expect(await listed()).toMatchObject([{ groupId, eventCount: 3, userCount: 1 }]);
  expect(counted).toHaveBeenCalledTimes(2);
});

test('a group is counted at once when its last count is long ago, and not before its rest when it is not', async () => {
  const groupId = await arrive({});
  await run();
  await arrive({});
  await run();
  expect(await countOf(groupId)).toBe(1);
  // The rest is longer on a slow machine, and at most ten minutes.
  w.clock.advance({ minutes: 10 });
  await run();
  expect(await countOf(groupId)).toBe(2);
  w.clock.advance({ minutes: 5 });
  await arrive({});
  await run();
  expect(await countOf(groupId)).toBe(3);
});

test('a count that never came is made by the next process', async () => {
  const groupId = await arrive({});
  await counts().takeDue(w.clock.now(), 10);
  await run();
  expect(await countOf(groupId)).toBeUndefined();
  w.clock.advance({ minutes: 3 });
  await run();
  expect(await countOf(groupId)).toBe(1);
});

test('counts fall when events are no longer kept, by age or by a shorter retention', async () => {
  const groupId = await arrive({ ago: { hours: 24 * 80 } }, { ago: { hours: 24 * 3 } }, {});
  await run();
  expect(await countOf(groupId)).toBe(3);
  await w.expectOk('set_retention', { serviceId, capability: 'exceptions', retentionDays: 2 });
  await run();
  expect(await countOf(groupId)).toBe(1);
  await w.expectOk('set_retention', { serviceId, capability: 'exceptions', retentionDays: 90 });
  await run();
  expect(await countOf(groupId)).toBe(3);
  w.clock.advance({ hours: 24 * 12 });
  await run();
  expect(await countOf(groupId)).toBe(2);
});

test('events that came through a release without counts are counted, too', async () => {
  const [group] = await groupAndStore(w, serviceId, [eventAt(w)]);
  const { groupId } = group!;
  await counts().markMissed(w.clock.now());
  await run();
  expect(await countOf(groupId)).toBe(1);
  w.clock.advance({ minutes: 1 });
  await groupAndStore(w, serviceId, [eventAt(w)]);
  await run();
  expect(await countOf(groupId)).toBe(1);
  await counts().markMissed(w.clock.now());
  await run();
  expect(await countOf(groupId)).toBe(2);
});

/** Groups of a service whose organization is `of`, each due since `ago`. */
async function groupsDue(of: World, many: number, ago: { readonly seconds: number }): Promise<Id<'group'>[]> {
  const service = await of.given.service();
  // Messages that learning would not join.
  const events = Array.from({ length: many }, (_, index) =>
    eventAt(of, withMessage(`${String.fromCodePoint(97 + index).repeat(9)} failed`)),
  );
  const groupIds = (await groupAndStore(of, service.serviceId, events)).map(({ groupId }) => groupId);
  await counts().markDue(groupIds, w.clock.now().subtract(ago));
  return groupIds;
}

test('the groups that an organization has due delay neither those of others nor those of its other services', async () => {
  const flood = await groupsDue(w, 12, { seconds: 60 });
  const [ofOtherService] = await groupsDue(w, 1, { seconds: 5 });
  const [ofOther] = await groupsDue(await w.forOrganization(), 1, { seconds: 1 });
  const taken = (await counts().takeDue(w.clock.now(), 6)).map(({ id }) => id);
  expect(taken).toHaveLength(6);
  expect(taken).toEqual(expect.arrayContaining([flood[0], ofOtherService, ofOther]));
});

test('an organization that takes long to count delays no other', async () => {
  onTestFinished(w.clock.beImpatient(1));
  const [slow] = await groupsDue(w, 1, { seconds: 60 });
  const other = await w.forOrganization();
  const [quick] = await groupsDue(other, 1, { seconds: 1 });
  const { counter } = w.context.actions.exceptions;
  const held = Promise.withResolvers<void>();
  const slowFirst = {
    async count(scopes: Parameters<typeof counter.count>[0]) {
      if (scopes.some(({ groupId }) => groupId === slow)) await held.promise;
      return await counter.count(scopes);
    },
  };
  const saves = happenings();
  const { save } = ExceptionCountStore.prototype;
  const saved = vi.spyOn(ExceptionCountStore.prototype, 'save').mockImplementation(async function (
    this: ExceptionCountStore,
    ...given
  ) {
    await save.apply(this, given);
    saves.happen();
  });
  onTestFinished(() => saved.mockRestore());
  const counting = new ExceptionCounting({ ...w.context, exceptions: { counter: slowFirst as typeof counter } });
  await counting.run();
  await saves.reach(1);
  expect(await countOf(quick!)).toBe(1);
  const [next] = await groupsDue(other, 1, { seconds: 1 });
  await groupsDue(w, 1, { seconds: 60 });
  await counting.run();
  await saves.reach(2);
  expect(await countOf(next!)).toBe(1);
  expect(await countOf(slow!)).toBeUndefined();
  held.resolve();
  await counting.settled();
  expect(await countOf(slow!)).toBe(1);
});
