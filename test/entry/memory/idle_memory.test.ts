import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

import { expect, test } from 'vitest';

import { IdleMemory } from '#entry/memory/idle_memory.ts';

const MEGABYTE = 1024 * 1024;

/** Tells what is held before and after a collection: by a thread, as the heap of a process that runs tests is large. */
const COLLECTING = `
  const { parentPort } = require('node:worker_threads');
  const nextTurn = () => new Promise((resolve) => void setImmediate(resolve));
  import(${JSON.stringify(import.meta.resolve('#entry/memory/idle_memory.ts'))}).then(async ({ thisProcess }) => {
    const garbage = new WeakRef({ socket: 'closed' });
    await nextTurn();
    const wasHeld = garbage.deref() !== undefined;
    await nextTurn();
    thisProcess().collect();
    parentPort.postMessage([wasHeld, garbage.deref() !== undefined]);
  });`;

test('a collection leaves nothing that nobody holds', async () => {
  const [held] = await once(new Worker(COLLECTING, { eval: true }), 'message');
  expect(held).toEqual([true, false]);
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
