import { expect, test } from 'vitest';

import { freeBytes, ownMemoryOf } from '#kernel/free_bytes.ts';

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
  const own = Buffer.from(new ArrayBuffer(100_000));
  expect(ownMemoryOf(own)).toEqual([own.buffer]);
  expect(ownMemoryOf(own.subarray(1))).toEqual([]);
  expect(ownMemoryOf(Buffer.from('from the pool'))).toEqual([]);
});
