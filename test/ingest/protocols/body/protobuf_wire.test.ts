import { expect, test } from 'vitest';

import { WireReader } from '#ingest/protocols/body/protobuf_wire.ts';
import { AppError } from '#kernel/errors.ts';
import { varint } from '#test/ingest/metric_bytes.ts';
import fc from '#test/kit/properties.ts';

/** A number of every count of bytes, and what is before and behind it. */
const bits = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const numbers = fc.tuple(bits, fc.integer({ min: 0, max: 63 })).map(([wide, shift]) => wide >> BigInt(shift));
const around = fc.uint8Array({ maxLength: 4 });

test('whole numbers are read for what they are, wherever they stand and whatever is behind them', () => {
  fc.assert(
    fc.property(around, numbers, around, (before, value, behind) => {
      const bytes = Buffer.concat([before, varint(value), behind]);
      const end = before.length + varint(value).length;
      for (const until of [end, bytes.length]) {
        const reader = new WireReader(bytes, 'test');
        reader.pos = before.length;
        expect(Math.abs(reader.varint(until) - Number(value))).toBeLessThanOrEqual(
          Number(value) > 2 ** 53 ? 2 ** 12 : 0,
        );
        expect(reader.pos).toBe(end);
        reader.pos = before.length;
        const signed = BigInt.asIntN(64, value);
        expect(Math.abs(reader.int64(until) - Number(signed))).toBeLessThanOrEqual(signed > 2n ** 53n ? 2 ** 12 : 0);
        expect(reader.pos).toBe(end);
        reader.pos = before.length;
        expect(String(reader.int64Exact(until))).toBe(String(signed));
      }
    }),
    { numRuns: 2_000 },
  );
});

test('a number is written in whatever count of bytes, up to ten', () => {
  for (let zeros = 0; zeros < 10; zeros += 1) {
    const bytes = Buffer.concat([Buffer.alloc(zeros, 0x80), Buffer.of(0)]);
    expect([
      new WireReader(bytes, 'test').varint(bytes.length),
      new WireReader(bytes, 'test').int64(bytes.length),
    ]).toEqual([0, 0]);
  }
  const bytes = Buffer.concat([Buffer.alloc(10, 0x80), Buffer.of(0)]);
  expect(() => new WireReader(bytes, 'test').varint(bytes.length)).toThrow('more than 10 bytes');
});

test('a number that goes on behind the end of its message is cut off, whatever stands there', () => {
  const bytes = varint(2n ** 64n - 1n);
  for (const whole of [bytes, varint(1_795_258_360_000), varint(300), varint(3)]) {
    for (let end = 0; end < whole.length; end += 1) {
      const padded = Buffer.concat([whole, Buffer.alloc(20)]);
      expect(() => new WireReader(padded, 'test').varint(end)).toThrow(AppError);
      expect(() => new WireReader(padded, 'test').int64(end)).toThrow('a number is cut off');
    }
  }
});
