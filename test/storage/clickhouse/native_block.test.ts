import { expect, test } from 'vitest';

import { bytesOf, lowCardinality, nativeBlock } from '#storage/clickhouse/native_block.ts';

/** One column of numbers, between two small ones. */
function blockOf(rows: number) {
  const numbers = new BigUint64Array(rows).map((_, row) => BigInt(row));
  const kinds = new Uint8Array(rows).fill(3);
  const block = nativeBlock(rows, [
    { name: 'name', type: 'LowCardinality(String)', parts: lowCardinality(['a', 'b'], new Uint32Array(1)) },
    { name: 'number', type: 'UInt64', parts: [bytesOf(numbers)] },
    { name: 'kind', type: 'UInt8', parts: [kinds] },
  ]);
  return { block, numbers, kinds };
}

test('a block of few rows is one part, and one of many has its large columns in between, uncopied', () => {
  const few = blockOf(10);
  expect(few.block).toHaveLength(1);
  const many = blockOf(8_192);
  expect(many.block).toHaveLength(3);
  expect(many.block[1]?.buffer).toBe(many.numbers.buffer);
});

test('the parts, one after the other, are all columns in their order', () => {
  for (const rows of [1, 8_191, 8_192, 100_000]) {
    const { block, numbers, kinds } = blockOf(rows);
    const bytes = Buffer.concat(block);
    const numbersAt = bytes.indexOf('\u0006number\u0006UInt64') + 14;
    const kindsAt = numbersAt + numbers.byteLength;
    expect(bytes.subarray(numbersAt, kindsAt).equals(bytesOf(numbers))).toBe(true);
    expect(bytes.toString('latin1', kindsAt, kindsAt + 11)).toBe('\u0004kind\u0005UInt8');
    expect(bytes.subarray(kindsAt + 11).equals(kinds)).toBe(true);
  }
});
