import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { groupExceptions } from '#jobs/group_exceptions.ts';
import { storePoints } from '#jobs/store_points.ts';
import type { KeptJobContract } from '#kernel/job.ts';
import type { KeptPlace } from '#storage/postgres/kept_job_store.ts';
import { Wakings } from '#storage/queue/wakings.ts';

let stored: KeptPlace[];
let woken: string[];
let wakings: Wakings;

beforeEach(() => {
  vi.useFakeTimers();
  stored = [];
  woken = [];
  wakings = new Wakings((_job, keptId) => woken.push(keptId));
});

afterEach(() => vi.useRealTimers());

const join = (job: KeptJobContract = groupExceptions, bytes = 10): Promise<void> =>
  wakings.join(job, bytes, async (place) => void stored.push(place));

/** For what is woken, how many jobs were stored under it. */
const jobsWoken = (): number[] => woken.map((id) => stored.filter(({ keptId }) => keptId === id).length);

test('a job of a quiet line wakes its worker at once', async () => {
  await join();
  await vi.advanceTimersByTimeAsync(1);
  expect(jobsWoken()).toEqual([1]);
  await vi.advanceTimersByTimeAsync(100);
  await join();
  await vi.advanceTimersByTimeAsync(1);
  expect(jobsWoken()).toEqual([1, 1]);
});

test('jobs of a busy line share their wake-ups, each of them with one of its kind', async () => {
  for (let i = 0; i < 10; i += 1) {
    await join();
    await join(storePoints);
    await vi.advanceTimersByTimeAsync(25);
  }
  await vi.advanceTimersByTimeAsync(100);
  expect(stored).toHaveLength(20);
  expect(new Set(stored.map(({ keptId, number }) => `${keptId} ${number}`)).size).toBe(20);
  expect(jobsWoken().reduce((sum, jobs) => sum + jobs, 0)).toBe(20);
  expect(woken).toHaveLength(8);
});

test('a wake-up is for so many jobs and so many bytes at most', async () => {
  for (let i = 0; i < 20; i += 1) await join();
  for (let i = 0; i < 3; i += 1) await join(storePoints, 600_000);
  await join(storePoints, 5_000_000);
  await vi.advanceTimersByTimeAsync(100);
  expect(jobsWoken().toSorted((a, b) => b - a)).toEqual([8, 8, 4, 1, 1, 1, 1]);
});

test('nothing is woken before all that shares the wake-up is stored, nor for what could not be stored', async () => {
  const { promise: slow, resolve: store } = Promise.withResolvers<void>();
  const waiting = wakings.join(groupExceptions, 10, async (place) => {
    await slow;
    stored.push(place);
  });
  await join();
  const failing = wakings.join(storePoints, 10, () => Promise.reject(new Error('away')));
  await expect(failing).rejects.toThrow('away');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(woken).toEqual([]);
  store();
  await waiting;
  expect(jobsWoken()).toEqual([2]);
});

test('what is stored waits no longer once all is to be settled', async () => {
  await join();
  await vi.advanceTimersByTimeAsync(1);
  await join();
  expect(jobsWoken()).toEqual([1]);
  wakings.settle();
  expect(jobsWoken()).toEqual([1, 1]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(woken).toHaveLength(2);
});
