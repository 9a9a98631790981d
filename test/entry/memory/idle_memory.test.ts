import { expect, test } from 'vitest';

import { IdleMemory, thisProcess } from '#entry/memory/idle_memory.ts';

const MEGABYTE = 1024 * 1024;

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test('a collection leaves nothing that nobody holds', async () => {
  const garbage = new WeakRef({ socket: 'closed' });
  await nextTurn();
  expect(garbage.deref()).toBeDefined();
  await nextTurn();
  thisProcess().collect();
  expect(garbage.deref()).toBeUndefined();
});

test('what a start has left is given back once, as soon as the process is idle', () => {
  let busyShare = 0.5;
  let collections = 0;
  const memory = new IdleMemory({
    busyShare: () => busyShare,
    heapBytes: () => 60 * MEGABYTE,
    collect: () => (collections += 1),
  });
  memory.look();
  expect(collections).toBe(0);
  busyShare = 0.01;
  memory.look();
  memory.look();
  expect(collections).toBe(1);
});

test('an idle process does not look for garbage again and again when what it holds has grown for good', () => {
  let heapBytes = 100 * MEGABYTE;
  let collections = 0;
  const memory = new IdleMemory({ busyShare: () => 0, heapBytes: () => heapBytes, collect: () => (collections += 1) });
  heapBytes = 140 * MEGABYTE;
  for (let round = 0; round < 5; round += 1) memory.look();
  expect(collections).toBe(1);
  heapBytes = 60 * MEGABYTE;
  memory.look();
  heapBytes = 90 * MEGABYTE;
  memory.look();
  expect(collections).toBe(2);
});
