import { expect, test } from 'vitest';

import { isSameSpan } from '#ingest/hashing/span_index.ts';

test('spans are the same only where each of their bytes is, and nothing around them counts', () => {
  for (let length = 0; length <= 40; length += 1) {
    const a = Buffer.from(Array.from({ length: length + 6 }, (_, i) => i + 1));
    const b = Buffer.concat([Buffer.of(0xff), a.subarray(3, 3 + length), Buffer.of(0xff)]);
    const same = () => isSameSpan(viewOf(a), 3, viewOf(b), 1, length);
    expect(same()).toBe(true);
    for (let i = 1; i <= length; i += 1) {
      b.writeUInt8(b.readUInt8(i) ^ 0x80, i);
      expect(same()).toBe(false);
      b.writeUInt8(b.readUInt8(i) ^ 0x80, i);
    }
  }
});

function viewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length);
}
