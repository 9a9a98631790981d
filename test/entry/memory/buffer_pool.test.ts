import { afterAll, beforeAll, expect, test } from 'vitest';

import { useSmallBufferPool } from '#entry/memory/memory.ts';

const { poolSize } = Buffer;
beforeAll(useSmallBufferPool);
afterAll(() => void (Buffer.poolSize = poolSize));

test('buffers of some kilobytes have memory of their own', () => {
  expect(Buffer.allocUnsafe(20_000).buffer.byteLength).toBe(20_000);
  expect(Buffer.concat([Buffer.alloc(10_000), Buffer.alloc(5_000)]).buffer.byteLength).toBe(15_000);
});

test('small ones share pieces of 8 kB', () => {
  const made = Array.from({ length: 200 }, () => Buffer.allocUnsafe(1_000));
  expect(made.at(-1)!.buffer.byteLength).toBe(8 * 1024);
  expect(new Set(made.map(({ buffer }) => buffer)).size).toBeLessThan(40);
});
