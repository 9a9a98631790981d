import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { Batcher } from '#ingest/batcher.ts';

beforeEach(() => void vi.useFakeTimers({ now: 0, toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] }));
afterEach(() => void vi.useRealTimers());

interface Commit {
  readonly at: number;
  readonly items: readonly number[];
}

/** Items weigh what they are worth. */
function givenBatcher(
  options: { everyMs?: () => number; busyFrom?: number; everyMsMin?: number; itemsMax?: number; quietMs?: number } = {},
) {
  const commits: Commit[] = [];
  const batcher = new Batcher<number>({
    lingerMs: 5,
    everyMs: 100,
    itemsMax: Infinity,
    max: { bytes: Infinity, count: 1_000 },
    commitsMax: 1,
    weigh: (count) => ({ bytes: 0, count }),
    commit: async (items) => void commits.push({ at: Date.now(), items }),
    ...options,
  });
  return { commits, add: (item: number) => void batcher.add(item) };
}

test('items that arrive within the linger are one commit', async () => {
  const { add, commits } = givenBatcher();
  add(1);
  await vi.advanceTimersByTimeAsync(3);
  add(2);
  await vi.advanceTimersByTimeAsync(200);
  expect(commits).toEqual([{ at: 5, items: [1, 2] }]);
});

test('commits keep their distance, unless a full one is ready', async () => {
  const { add, commits } = givenBatcher();
  add(1);
  await vi.advanceTimersByTimeAsync(10);
  add(2);
  await vi.advanceTimersByTimeAsync(100);
  add(1_000);
  await vi.advanceTimersByTimeAsync(1);
  expect(commits).toEqual([
    { at: 5, items: [1] },
    { at: 105, items: [2] },
    { at: 110, items: [1_000] },
  ]);
});

test('the distance of commits may change, as with the number of processes that share the items', async () => {
  let processes = 1;
  const { add, commits } = givenBatcher({ everyMs: () => 10 * processes });
  add(1);
  await vi.advanceTimersByTimeAsync(6);
  add(2);
  await vi.advanceTimersByTimeAsync(14);
  processes = 8;
  add(3);
  await vi.advanceTimersByTimeAsync(100);
  expect(commits).toEqual([
    { at: 5, items: [1] },
    { at: 15, items: [2] },
    { at: 95, items: [3] },
  ]);
});

test('small commits keep the shortest distance that is wanted, and the first goes at once', async () => {
  const { add, commits } = givenBatcher({ busyFrom: 50, everyMsMin: 30 });
  add(1);
  await vi.advanceTimersByTimeAsync(10);
  add(2);
  await vi.advanceTimersByTimeAsync(60);
  add(3);
  await vi.advanceTimersByTimeAsync(60);
  expect(commits).toEqual([
    { at: 5, items: [1] },
    { at: 35, items: [2] },
    { at: 75, items: [3] },
  ]);
});

test('a commit follows the sooner the smaller the one before was, where that is wanted', async () => {
  const { add, commits } = givenBatcher({ busyFrom: 50 });
  add(1);
  await vi.advanceTimersByTimeAsync(10);
  add(25);
  await vi.advanceTimersByTimeAsync(10);
  add(60);
  await vi.advanceTimersByTimeAsync(50);
  add(1);
  await vi.advanceTimersByTimeAsync(200);
  expect(commits.map(({ at }) => at)).toEqual([5, 15, 65, 165]);
});

test('once nothing more comes, a commit keeps no distance', async () => {
  const { add, commits } = givenBatcher({ quietMs: 20 });
  add(1);
  await vi.advanceTimersByTimeAsync(10);
  for (const item of [2, 3, 4]) {
    add(item);
    await vi.advanceTimersByTimeAsync(15);
  }
  await vi.advanceTimersByTimeAsync(100);
  add(5);
  await vi.advanceTimersByTimeAsync(10);
  expect(commits).toEqual([
    { at: 5, items: [1] },
    { at: 60, items: [2, 3, 4] },
    { at: 160, items: [5] },
  ]);
});
