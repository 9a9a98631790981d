import fc from '#test/kit/properties.ts';
import { expect, test } from 'vitest';

import { GROUPING_CAPACITY } from '#modules/exceptions/group_jobs.ts';
import { scheduleFairly, type WaitingWork } from '#storage/queue/fair_turns.ts';

const work = fc
  .tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 3 }), fc.integer({ min: 1, max: 20 }))
  .map(([org, service, items]): WaitingWork => ({ orgId: `org ${org}`, serviceId: `${org} ${service}`, items }));
const capacity = fc.record({
  items: fc.integer({ min: 1, max: 200 }),
  itemsOfOrg: fc.integer({ min: 1, max: 200 }),
  jobs: fc.integer({ min: 1, max: 40 }),
});

const LARGEST = 20;

const itemsOf = (works: readonly WaitingWork[], orgId: string): number =>
  works.filter((one) => one.orgId === orgId).reduce((sum, { items }) => sum + items, 0);

test('one that has much to do takes turns with one that has little, and its own services with each other', () => {
  const of = (orgId: string, serviceId: string, count: number): WaitingWork[] =>
    Array.from({ length: count }, () => ({ orgId, serviceId, items: 1 }));
  const waiting = [...of('much', 'flood', 50), ...of('much', 'quiet', 1), ...of('little', 'shop', 2)];
  const taken = scheduleFairly(waiting, [], { items: 5, itemsOfOrg: 5, jobs: 5 });
  expect(taken.map(({ serviceId }) => serviceId)).toEqual(['flood', 'shop', 'quiet', 'shop', 'flood']);
});

test('an organization leaves room for those who come later', () => {
  const flood = Array.from({ length: 50 }, () => ({ orgId: 'much', serviceId: 'flood', items: 1 }));
  expect(scheduleFairly(flood, [], { items: 10, itemsOfOrg: 6, jobs: 50 })).toHaveLength(6);
  const later = { orgId: 'little', serviceId: 'shop', items: 1 };
  expect(scheduleFairly([...flood, later], flood.slice(0, 6), { items: 10, itemsOfOrg: 6, jobs: 50 })).toEqual([later]);
});

test('jobs of one organization that wait leave places for those of others, however few items they have', () => {
  const flood = Array.from({ length: 50 }, () => ({ orgId: 'much', serviceId: 'flood', items: 1 }));
  const room = { items: 1_000, itemsOfOrg: 500, jobs: 10, jobsOfOrg: 5 };
  expect(scheduleFairly(flood, [], room)).toHaveLength(5);
  const later = { orgId: 'little', serviceId: 'shop', items: 1 };
  expect(scheduleFairly([...flood, later], flood.slice(0, 5), room)).toEqual([later]);
});

test('work that is large for its items counts as more of them', () => {
  const large = Array.from({ length: 9 }, () => ({ orgId: 'much', serviceId: 'new', items: 1, size: 40 }));
  const room = { items: 10, itemsOfOrg: 8, jobs: 50, bytesOfItem: 10 };
  expect(scheduleFairly(large, [], room)).toHaveLength(2);
  expect(scheduleFairly(large, large.slice(0, 2), room)).toEqual([]);
  const small = { orgId: 'little', serviceId: 'shop', items: 1, size: 3 };
  expect(scheduleFairly([...large, small], large.slice(0, 2), room)).toEqual([small]);
});

test('large jobs of exceptions, which wait for each other, are not all held in memory', () => {
  const jobs = (size: number) => Array.from({ length: 200 }, () => ({ orgId: 'much', serviceId: 'a', items: 1, size }));
  const megabyte = 1_000_000;
  expect(scheduleFairly(jobs(megabyte), [], GROUPING_CAPACITY).length).toBeLessThan(10);
  expect(scheduleFairly(jobs(10_000), [], GROUPING_CAPACITY)).toHaveLength(160);
});

test('nothing that has room waits, bounds hold but for one piece, and nobody who waits has less than who was taken', () => {
  fc.assert(
    fc.property(
      fc.array(work, { maxLength: 60 }),
      fc.array(work, { maxLength: 10 }),
      capacity,
      (waiting, busy, room) => {
        const taken = scheduleFairly(waiting, busy, room);
        const all = [...busy, ...taken];
        const left = waiting.filter((one) => !taken.includes(one));
        const total = all.reduce((sum, { items }) => sum + items, 0);
        const isFull = total >= room.items || all.length >= room.jobs;
        for (const { orgId } of left) expect(isFull || itemsOf(all, orgId) >= room.itemsOfOrg).toBe(true);
        for (const { orgId } of taken) {
          const last = taken.findLast((one) => one.orgId === orgId);
          const before = itemsOf(all, orgId) - (last?.items ?? 0);
          expect(before).toBeLessThan(room.itemsOfOrg);
          const poorest = Math.min(Infinity, ...left.map((one) => itemsOf(all, one.orgId)));
          expect(before).toBeLessThanOrEqual(poorest);
        }
        expect(total - (taken.at(-1)?.items ?? 0)).toBeLessThanOrEqual(
          Math.max(
            room.items,
            busy.reduce((sum, { items }) => sum + items, 0),
          ) + LARGEST,
        );
        for (const serviceId of new Set(waiting.map((one) => one.serviceId))) {
          const own = waiting.filter((one) => one.serviceId === serviceId);
          const begun = taken.filter((one) => one.serviceId === serviceId);
          expect(begun).toEqual(own.slice(0, begun.length));
        }
      },
    ),
  );
});
