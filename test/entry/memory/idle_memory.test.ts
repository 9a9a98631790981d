import { expect, test } from 'vitest';

import { IdleMemory, thisProcess } from '#entry/memory/idle_memory.ts';

const MEGABYTE = 1024 * 1024;

test('what a crowd has left is given back once the process is idle, and not before', () => {
  const real = thisProcess();
  let busyShare = 0.5;
  real.collect();
  const memory = new IdleMemory({ ...real, busyShare: () => busyShare });
  const before = real.heapBytes();
  makeGarbage();
  const made = real.heapBytes() - before;
  expect(made).toBeGreaterThan(60 * MEGABYTE);
  memory.look();
  expect(real.heapBytes() - before).toBeGreaterThan(made * 0.9);
  busyShare = 0.01;
  memory.look();
  expect(real.heapBytes() - before).toBeLessThan(made * 0.2);
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

/** As connections do that are held for a while, and are gone then: it is old by then. */
function makeGarbage(): void {
  const held: unknown[] = [];
  while (held.length < 1_000_000) held.push({ socket: `${held.length}`, timers: [held.length] });
}
