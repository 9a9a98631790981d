import { expect, test } from 'vitest';

import { freeBytes, ownMemoryOf, ThreadGarbage } from '#kernel/free_bytes.ts';

test('large bytes are given back at once, in every view of them', () => {
  const bytes = Buffer.alloc(1_000_000, 1);
  const head = bytes.subarray(0, 10);
  const numbers = new Float64Array(bytes.buffer, 0, 100_000);
  freeBytes(bytes);
  expect([bytes.length, head.length, numbers.length, bytes.buffer.byteLength]).toEqual([0, 0, 0, 0]);
});

test('bytes that fill most of their memory are given back, too', () => {
  const memory = new ArrayBuffer(1_001);
  freeBytes(new Uint8Array(memory, 0, 1_000));
  expect(memory.byteLength).toBe(0);
});

test('small bytes, which share their memory with others, are left alone', () => {
  const [first, second] = [Buffer.from('first'), Buffer.from('second')];
  expect(first.buffer).toBe(second.buffer);
  freeBytes(first);
  freeBytes(Buffer.alloc(0));
  expect([first.toString(), second.toString()]).toEqual(['first', 'second']);
});

test('bytes that share their memory with nobody can be moved to a thread, others are copied', () => {
  const buffer = Buffer.from(new ArrayBuffer(100_000));
  expect(ownMemoryOf(buffer)).toEqual([buffer.buffer]);
  expect(ownMemoryOf(buffer.subarray(1))).toEqual([]);
  expect(ownMemoryOf(Buffer.from('from the pool'))).toEqual([]);
});

test('a thread collects its garbage once there is enough of it, and counts from what was left', () => {
  const [mebibyte, heap] = [1_048_576, { bytes: 30 * 1_048_576 }];
  let collected = 0;
  const garbage = new ThreadGarbage({
    heapBytes: () => heap.bytes,
    collect() {
      collected += 1;
      heap.bytes = 20 * mebibyte;
    },
  });
  const lookAt = (bytes: number): number => {
    heap.bytes = bytes;
    garbage.look();
    return collected;
  };
  expect([30, 27, 28, 27].map((mebibytes) => lookAt(mebibytes * mebibyte))).toEqual([1, 1, 2, 2]);
});
