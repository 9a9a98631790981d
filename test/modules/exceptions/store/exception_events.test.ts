import { expect, test } from 'vitest';

import { periodsAt } from '#modules/exceptions/decide/group_counts.ts';
import { newId } from '#kernel/ids.ts';
import { Temporal } from '#kernel/time.ts';
import type { GroupScope } from '#modules/exceptions/store/exception_counter.ts';
import { eventConditionsOf, meetsConditions } from '#modules/rules/decide/replay_exceptions.ts';
import { ExceptionReader } from '#modules/exceptions/store/exception_reader.ts';
import { ExceptionWriter } from '#modules/exceptions/store/exception_writer.ts';
import { exceptionEvent } from '#test/kit/exception_event.ts';
import fc, { slowRuns } from '#test/kit/properties.ts';
import { fileWorld, world } from '#test/kit/world.ts';
import { whenDeleted } from '#test/kit/when.ts';

const NOW = Temporal.Instant.from('2027-03-10T12:00:00Z');

const w = await fileWorld();
const reader = new ExceptionReader(w.context.clickhouse);
const writer = new ExceptionWriter(w.context.clickhouse);

function newScope(serviceId = newId('service')): GroupScope {
  return { serviceId, groupId: newId('group'), keptSince: NOW.subtract({ hours: 24 * 90 }) };
}

async function countOf(scope: GroupScope, from = reader): Promise<number> {
  return (await from.countByGroup([scope])).get(scope.groupId)?.events ?? 0;
}

async function newestOf(scope: GroupScope) {
  const { events } = await reader.readNewest(scope, { limit: 20, sampling: { sample: 10, tags: 10, values: 5 } });
  return events;
}

test('an event is read as it was written', async () => {
  const scope = newScope();
  const event = exceptionEvent(NOW, {
    tags: { 'a\n\n"b"': '\\ 🦊 \t', __proto__x: '' },
    message: 'one\n\n\ntwo; DROP TABLE exception_events',
    extra: { deep: [1, { x: null }] },
  });
  await writer.insert([{ ...scope, event }], newId('job'));
  const [read] = await newestOf(scope);
  expect(read).toEqual(event);
  expect(await reader.countTags(scope, { sample: 10, tags: 10, values: 5 })).toEqual(
    new Map([
      ['__proto__x', [{ value: '', count: 1 }]],
      ['a\n\n"b"', [{ value: '\\ 🦊 \t', count: 1 }]],
    ]),
  );
});

test('an event counts once, under the same token or another, at the same time or another', async () => {
  const scope = newScope();
  const event = exceptionEvent(NOW);
  for (const token of ['x', 'x', 'y']) await writer.insert([{ ...scope, event }], `${scope.groupId}${token}`);
  const later = { ...event, at: NOW.add({ seconds: 5 }), receivedAt: NOW.add({ seconds: 5 }) };
  await writer.insert([{ ...scope, event: later }], newId('job'));
  expect(await countOf(scope)).toBe(1);
  expect(await newestOf(scope)).toHaveLength(1);
  expect(await reader.countTags(scope, { sample: 10, tags: 10, values: 5 })).toEqual(
    new Map([['region', [{ value: 'eu', count: 1 }]]]),
  );
  expect((await reader.counter.count([scope])).get(scope.groupId)).toMatchObject({
    events: 1,
    users: 1,
    isHandled: false,
    days: [['2027-03-10', 1]],
    environments: [{ value: 'production', count: 1 }],
  });
  expect(await reader.countWeeks(scope, periodsAt(NOW))).toEqual({ thisWeek: 1, weekBefore: 0 });
  const services = [{ serviceIds: [scope.serviceId], keptSince: NOW.subtract({ hours: 1 }) }];
  const found = (origin: object, since = services) => reader.counter.listGroups(since, origin);
  expect(await found({ environment: 'production', release: 'shop@1.4.0' })).toEqual([scope.groupId]);
  expect(await found({ release: 'shop@1.4.1' })).toEqual([]);
  expect(await found({}, [{ serviceIds: [scope.serviceId], keptSince: NOW.add({ hours: 1 }) }])).toEqual([]);
});

test('a group without events has nothing to show', async () => {
  const scope = newScope();
  expect(await reader.countByGroup([scope])).toEqual(new Map());
  expect(await reader.countByGroup([])).toEqual(new Map());
  expect(await newestOf(scope)).toEqual([]);
  expect(await reader.countTags(scope, { sample: 10, tags: 10, values: 5 })).toEqual(new Map());
  expect(await reader.countWeeks(scope, periodsAt(NOW))).toEqual({ thisWeek: 0, weekBefore: 0 });
});

test('groups of several services are counted each by what its service keeps', async () => {
  const [one, two] = [newScope(), { ...newScope(), keptSince: NOW.subtract({ hours: 1 }) }];
  const events = [0, 30, 90].map((minutes) => exceptionEvent(NOW.subtract({ minutes })));
  await writer.insert(
    [one, two].flatMap((scope) => events.map((event) => ({ ...scope, event }))),
    newId('job'),
  );
  const counts = await reader.countByGroup([one, two]);
  expect([counts.get(one.groupId)!.events, counts.get(two.groupId)!.events]).toEqual([3, 2]);
});

test('events that meet conditions are those of which the rules on new exceptions say so', async () => {
  const scope = newScope();
  const text = fc
    .array(fc.constantFrom('a', 'B', 'é', 'É', '%', '_', '\\', "'", '\n', '.', '🦊'), { maxLength: 4 })
    .map((parts) => parts.join(''));
  const [sent = []] = fc.sample(
    fc.array(fc.record({ environment: text, release: text, tag: fc.option(text) }), { minLength: 60, maxLength: 60 }),
    1,
  );
  const events = sent.map(({ environment, release, tag }) =>
    exceptionEvent(NOW, { environment, release, tags: tag === null ? { other: 'a' } : { 'k.1': tag } }),
  );
  await writer.insert(
    events.map((event) => ({ ...scope, event })),
    newId('job'),
  );
  const pattern = fc.option(
    fc.array(fc.oneof(text, fc.constant('*')), { minLength: 1, maxLength: 3 }).map((all) => all.join('')),
  );
  const conditions = fc.record({
    inEnvironment: pattern,
    inRelease: pattern,
    withTag: pattern.map((value) => value && `k.1:${value}`),
  });
  await fc.assert(
    fc.asyncProperty(conditions, async (wanted) => {
      const counted = await reader.countByGroup([scope], eventConditionsOf(wanted));
      const met = events.filter((event) => meetsConditions({ ...wanted, withText: null }, { ...event, title: '' }));
      expect(counted.get(scope.groupId)?.events ?? 0).toBe(met.length);
    }),
    { numRuns: slowRuns(1_000, 60) },
  );
});

/** Tells the minutes at which the rate of events or users rises over a limit, minute by minute, as the words say it. */
function risesOf(
  events: readonly { readonly minute: number; readonly user: string }[],
  { eventsOver, usersOver, rateMinutes }: { eventsOver: number | null; usersOver: number | null; rateMinutes: number },
) {
  const rises: { minute: number; events: number; users: number | null }[] = [];
  let wasOver = false;
  for (let minute = 0; minute < 40; minute += 1) {
    const within = events.filter((event) => event.minute <= minute && event.minute > minute - rateMinutes);
    const users = new Set(within.flatMap(({ user }) => (user === '' ? [] : [user]))).size;
    const isOver = (eventsOver !== null && within.length > eventsOver) || (usersOver !== null && users > usersOver);
    if (isOver && !wasOver) rises.push({ minute, events: within.length, users: usersOver === null ? null : users });
    wasOver = isOver;
  }
  return rises;
}

test('a replay of rates finds each rise over a limit, as counting minute by minute does', async () => {
  const since = NOW.subtract({ minutes: 40 });
  const over = fc.option(fc.integer({ min: 0, max: 4 }));
  const limits = fc
    .record({ eventsOver: over, usersOver: over, rateMinutes: fc.integer({ min: 1, max: 8 }) })
    .filter(({ eventsOver, usersOver }) => eventsOver !== null || usersOver !== null);
  const sent = fc.array(
    fc.record({
      minute: fc.nat(29),
      second: fc.nat(59),
      user: fc.constantFrom('', 'a', 'b', 'c', 'd'),
      group: fc.nat(19),
      environment: fc.constantFrom('production', 'production', 'production', 'staging'),
    }),
    { minLength: 300, maxLength: 400 },
  );
  await fc.assert(
    fc.asyncProperty(sent, limits, async (all, limit) => {
      const service = newId('service');
      const places = Array.from({ length: 20 }, () => ({ ...newScope(service), keptSince: since }));
      const rows = all.map(({ minute, second, user, group, environment }) => {
        const at = since.add({ minutes: minute, seconds: second });
        const known = user === '' ? null : { id: user, email: null, username: null, ip: null };
        return { ...places[group]!, event: exceptionEvent(at, { environment, user: known }) };
      });
      await writer.insert(rows, newId('job'));
      // Each of the last five groups is part of one of the first five.
      const scopes = places
        .slice(0, 15)
        .map((scope, place) => (place < 5 ? { ...scope, mergedIds: [places[place + 15]!.groupId] } : scope));
      const rises = await reader.rates.listRises(scopes, limit, [{ field: 'env', value: 'prod*' }], 2);
      const ofProduction = all.filter(({ environment }) => environment === 'production');
      const found = scopes.map(({ groupId }) => {
        const { total = 0, newest = [] } = rises.get(groupId) ?? {};
        return {
          total,
          newest: newest.map(({ at, ...rise }) => ({ minute: since.until(at).total('minutes'), ...rise })),
        };
      });
      const counted = scopes.map((_, place) => {
        const taken = ofProduction.filter(({ group }) => group === place || (place < 5 && group === place + 15));
        const expected = risesOf(taken, limit);
        return { total: expected.length, newest: expected.toReversed().slice(0, 2) };
      });
      expect(found).toEqual(counted);
    }),
    { numRuns: slowRuns(240, 60), endOnFailure: true },
  );
});

test('events of the oldest and of impossible times are stored in one insert', async () => {
  const { clickhouse } = (await world()).context;
  const scope = { ...newScope(), keptSince: NOW.subtract({ hours: 24 * 1_000 }) };
  const events = Array.from({ length: 410 }, (_, day) => ({
    ...exceptionEvent(NOW.subtract({ hours: 24 * day })),
    receivedAt: NOW,
  }));
  const impossible = { ...exceptionEvent(Temporal.Instant.from('1970-01-01T00:00:00Z')), receivedAt: NOW };
  await new ExceptionWriter(clickhouse).insert(
    [...events, impossible].map((event) => ({ ...scope, event })),
    newId('job'),
  );
  expect(await countOf(scope, new ExceptionReader(clickhouse))).toBe(411);
});

test('the most frequent tags and values come first', async () => {
  const scope = newScope();
  const tags = [{ os: 'mac', page: 'a' }, { os: 'linux' }, { os: 'linux', page: 'a' }, { page: 'b' }, { os: 'bsd' }];
  const events = tags.map((tag) => exceptionEvent(NOW, { tags: tag }));
  await writer.insert(
    events.map((event) => ({ ...scope, event })),
    newId('job'),
  );
  expect([...(await reader.countTags(scope, { sample: 10, tags: 10, values: 2 }))]).toEqual([
    [
      'os',
      [
        { value: 'linux', count: 2 },
        { value: 'bsd', count: 1 },
      ],
    ],
    [
      'page',
      [
        { value: 'a', count: 2 },
        { value: 'b', count: 1 },
      ],
    ],
  ]);
  expect([...(await reader.countTags(scope, { sample: 10, tags: 1, values: 1 }))]).toEqual([
    ['os', [{ value: 'linux', count: 2 }]],
  ]);
});

test('deletion takes all events of one service and leaves the others alone', async () => {
  const [mine, other] = [newScope(), newScope()];
  const events = [0, 24, 72].map((hours) => exceptionEvent(NOW.subtract({ hours })));
  await writer.insert(
    [mine, other].flatMap((scope) => events.map((event) => ({ ...scope, event }))),
    newId('job'),
  );
  await writer.deleteService(mine.serviceId);
  await whenDeleted(w.context);
  expect(await countOf(mine)).toBe(0);
  expect(await countOf(other)).toBe(3);
});
