import fc, { slowRuns } from '#test/kit/properties.ts';
import { beforeEach, expect, test } from 'vitest';

import { LEVELS } from '#modules/exceptions/decide/level.ts';
import { groupEvent } from '#modules/exceptions/decide/grouping.ts';
import type { SeenEvent } from '#modules/exceptions/decide/seen_events.ts';
import { toOccurrence } from '#modules/exceptions/decide/occurrence.ts';
import type { Id } from '#kernel/ids.ts';
import { Temporal } from '#kernel/time.ts';
import type { ExceptionGroupRow } from '#modules/exceptions/store/exception_group_store.ts';
import { GroupOccurrences, type SeenGroup } from '#modules/exceptions/store/group_occurrences.ts';
import { storesOf } from '#modules/stores.ts';
import { exceptionEvent } from '#test/kit/exception_event.ts';
import { fileWorld } from '#test/kit/world.ts';
import { watchedSession } from '#test/kit/watched_session.ts';

const NOW = Temporal.Instant.from('2027-03-10T12:00:00Z');

let serviceId: Id<'service'>;
const w = await fileWorld();
w.clock.set(NOW.toString());
beforeEach(async () => {
  ({ serviceId } = await w.given.service({ capabilities: [] }));
});

/** An event of the group that is told by its fingerprint. */
function seen(group: string, given: Parameters<typeof exceptionEvent>[1] = {}, ago = 0): SeenEvent {
  const event = exceptionEvent(NOW.subtract({ minutes: ago }), { fingerprint: [group], ...given });
  return { orgId: w.orgId, serviceId, grouping: groupEvent(event), occurrence: toOccurrence(event) };
}

async function upsert(events: readonly SeenEvent[]): Promise<(SeenGroup | null)[]> {
  return await w.context.db.transaction((session) =>
    storesOf(session).exceptionGroups.upsertSeen(events, w.clock.now(), Infinity),
  );
}

async function groups(): Promise<ExceptionGroupRow[]> {
  const filter = { serviceId, status: null };
  const { exceptionGroups } = storesOf(w.context.db.session());
  const listed = await exceptionGroups.list(w.orgId, filter, w.clock.now(), 1_000);
  return await Promise.all(listed.groups.map(({ id }) => exceptionGroups.get(w.orgId, id, w.clock.now())));
}

test('every event is answered in its place, and groups are told apart', async () => {
  const found = await upsert([seen('a'), seen('b'), seen('a')]);
  expect(found.map((group) => group!.outcome)).toEqual(['new', 'new', 'new']);
  expect(found[0]).toBe(found[2]);
  expect(found[0]!.groupId).not.toBe(found[1]!.groupId);
  const again = await upsert([seen('c'), seen('b')]);
  expect(again).toMatchObject([{ outcome: 'new' }, { outcome: 'known', groupId: found[1]!.groupId }]);
  expect(await upsert([])).toEqual([]);
});

test('a batch that is brought twice changes nothing the second time', async () => {
  const batch = [seen('a', { level: 'fatal' }, 5), seen('a', { level: 'info', release: '2.0.0' }), seen('b')];
  await upsert(batch);
  const before = await groups();
  w.clock.advance({ minutes: 1 });
  expect((await upsert(batch)).map((group) => group!.outcome)).toEqual(['known', 'known', 'known']);
  expect(await groups()).toEqual(before);
  w.clock.set(NOW.toString());
});

test('first and last seen, the worst level and both releases do not depend on the order or the batches', async () => {
  const event = fc.record({ ago: fc.integer({ min: 0, max: 1_000 }), level: fc.constantFrom(...LEVELS) });
  let round = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 1, maxLength: 12 }), fc.nat(), async (events, seed) => {
      round += 1;
      const all = events.map(({ ago, level }) => seen(`${round}`, { level, release: `build-${ago}` }, ago));
      const cut = seed % (all.length + 1);
      const found = [...(await upsert(all.slice(0, cut))), ...(await upsert(all.slice(cut)))];
      const stored = (await groups()).find(({ id }) => id === found[0]!.groupId)!;
      const agos = events.map(({ ago }) => ago);
      expect(stored.level).toBe(LEVELS.findLast((level) => events.some((one) => one.level === level)));
      expect(stored.firstSeenAt.toString()).toBe(NOW.subtract({ minutes: Math.max(...agos) }).toString());
      expect(stored.lastSeenAt.toString()).toBe(NOW.subtract({ minutes: Math.min(...agos) }).toString());
      expect(stored.firstRelease).toBe(`build-${Math.max(...agos)}`);
      expect(stored.lastRelease).toBe(`build-${Math.min(...agos)}`);
    }),
    { numRuns: slowRuns(200) },
  );
});

test('workers that bring the same new groups at once make each of them once, and no event is lost', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `group ${index}`);
  const batches = Array.from({ length: 8 }, (_, worker) => {
    const mine = worker % 2 === 0 ? names : names.toReversed();
    return mine.map((name) => seen(name, { level: worker === 3 ? 'fatal' : 'error' }, worker));
  });
  const found = (await Promise.all(batches.map(upsert))).flat();
  const stored = await groups();
  expect(stored).toHaveLength(20);
  expect(new Set(found.map((group) => group!.groupId)).size).toBe(20);
  expect(found.filter((group) => group!.outcome === 'new')).toHaveLength(20);
  for (const { level, firstSeenAt, lastSeenAt } of stored) {
    expect({ level, minutes: firstSeenAt.until(lastSeenAt).total('minutes') }).toEqual({ level: 'fatal', minutes: 7 });
  }
});

test('concurrent events of a resolved group tell of one regression', async () => {
  const [group] = await upsert([seen('a')]);
  await w.expectOk('set_exception_status', { groupId: group!.groupId, status: 'resolved' });
  const outcomes = (await Promise.all([1, 2, 3, 4].map(() => upsert([seen('a'), seen('a')])))).map(
    ([first]) => first!.outcome,
  );
  expect(outcomes.toSorted()).toEqual(['known', 'known', 'known', 'regression']);
});

test('an event that waited while its group was resolved does not reopen it', async () => {
  const waiting = seen('a');
  const [group] = await upsert([seen('a')]);
  w.clock.advance({ seconds: 1 });
  await w.expectOk('set_exception_status', { groupId: group!.groupId, status: 'resolved' });
  expect(await upsert([waiting])).toMatchObject([{ outcome: 'known' }]);
  expect(await groups()).toMatchObject([{ status: 'resolved', resolvedInRelease: 'shop@1.4.0' }]);
  w.clock.set(NOW.toString());
});

test('a group keeps the type and place of its first event, and its title and pattern take in every message', async () => {
  const message = (text: string) => ({ exceptions: [], message: text, transaction: '/orders' });
  await upsert([seen('a', message('order 17 failed'), 3), seen('a', message('order 18 failed'), 2)]);
  const [first] = await groups();
  expect(first).toMatchObject({
    title: 'order <*> failed',
    pattern: 'order <*> failed',
    type: null,
    culprit: '/orders',
  });
  w.clock.advance({ minutes: 1 });
  await upsert([seen('a', { ...message('order 19 failed'), transaction: '/refunds' })]);
  expect(await groups()).toEqual([{ ...first, lastSeenAt: NOW }]);
  w.clock.set(NOW.toString());
});

test('texts that were cut in the middle of a character are stored', async () => {
  const text = `${'x'.repeat(399)}🦊🦊 quoted " and \\`;
  await upsert([seen('a', { exceptions: [], message: text })]);
  expect((await groups())[0]!.pattern).toMatch(/^x+\uFFFD$/);
});

test('events of services that are gone, or of other organizations, find no group', async () => {
  const other = await w.given.organization('Other');
  const foreign = { ...seen('a'), orgId: other.orgId };
  const [kept] = await upsert([seen('b')]);
  expect(await upsert([foreign, seen('b')])).toMatchObject([null, { groupId: kept!.groupId }]);
  await w.expectOk('delete_service', { serviceId });
  expect(await upsert([seen('b'), seen('c')])).toEqual([null, null]);
});

test('an event whose group is removed for its age at that moment comes to a new one', async () => {
  const [old] = await upsert([seen('a', {}, 60)]);
  const remove = () => w.context.db.sql.run('delete from exception_groups where id = $1', [old!.groupId]);
  const found = await w.context.db.transaction(async (session) => {
    let isRemoved = false;
    const watched = watchedSession(session, async (sql) => {
      if (sql.includes('for update of "g"') && !isRemoved) isRemoved = (await remove()) === 1;
    });
    return await new GroupOccurrences(watched, Infinity, null).upsert([seen('a')], w.clock.now());
  });
  expect(found[0]).toMatchObject({ outcome: 'new' });
  expect(found[0]!.groupId).not.toBe(old!.groupId);
});

test('workers that group at the same time begin as many groups a minute as a service may, not each as many', async () => {
  const limit = 10;
  const batches = Array.from({ length: 4 }, (_, batch) =>
    Array.from({ length: limit }, (_each, index) => seen(`fault ${batch} ${index}`)),
  );
  const found = await Promise.all(
    batches.map((events) =>
      w.context.db.transaction((session) => storesOf(session).exceptionGroups.upsertSeen(events, w.clock.now(), limit)),
    ),
  );
  const begun = new Set(found.flat().map((group) => group!.groupId));
  // One more takes the events of all that would have been too many.
  expect(begun.size).toBe(limit + 1);
});
