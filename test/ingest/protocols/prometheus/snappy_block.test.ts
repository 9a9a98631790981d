import fc from '#test/kit/properties.ts';
import { expect, test } from 'vitest';

import { finish } from '#kernel/cooperative_task.ts';
import { inflateSnappyBlock, ScratchBuffer } from '#ingest/protocols/prometheus/snappy_block.ts';
import { varint } from '#test/ingest/metric_bytes.ts';

type Step =
  | { kind: 'literal'; bytes: Uint8Array; sizeBytes: number }
  | { kind: 'copy'; back: number; length: number; offsetBytes: 1 | 2 | 4 };

const literal = fc.record({
  kind: fc.constant('literal' as const),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 100 }),
  sizeBytes: fc.integer({ min: 0, max: 4 }),
});
const copy = fc.record({
  kind: fc.constant('copy' as const),
  back: fc.oneof(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 5000 })),
  length: fc.integer({ min: 1, max: 64 }),
  offsetBytes: fc.constantFrom(1 as const, 2 as const, 4 as const),
});

/** Writes the steps as a block, and what they mean byte by byte. */
function encode(steps: readonly Step[]): { block: Buffer; plain: Buffer } {
  const plain: number[] = [];
  const parts: Buffer[] = [];
  for (const step of steps) {
    if (step.kind === 'literal') {
      const size = step.bytes.length - 1;
      const sizeBytes = size < 60 ? step.sizeBytes : Math.max(1, step.sizeBytes);
      const head = Buffer.alloc(1 + sizeBytes);
      head[0] = (sizeBytes === 0 ? size : 59 + sizeBytes) << 2;
      if (sizeBytes > 0) head.writeUIntLE(size, 1, sizeBytes);
      parts.push(head, Buffer.from(step.bytes));
      plain.push(...step.bytes);
      continue;
    }
    if (plain.length === 0) continue;
    const offset = 1 + ((step.back - 1) % Math.min(plain.length, step.offsetBytes === 1 ? 2047 : plain.length));
    const length = step.offsetBytes === 1 ? 4 + (step.length % 8) : step.length;
    const head = Buffer.alloc(1 + step.offsetBytes);
    if (step.offsetBytes === 1) {
      head[0] = ((offset >> 8) << 5) | ((length - 4) << 2) | 1;
      head[1] = offset & 0xff;
    } else {
      head[0] = ((length - 1) << 2) | (step.offsetBytes === 2 ? 2 : 3);
      head.writeUIntLE(offset, 1, step.offsetBytes);
    }
    parts.push(head);
    for (let i = 0; i < length; i += 1) plain.push(plain[plain.length - offset]!);
  }
  return { block: Buffer.concat([varint(plain.length), ...parts]), plain: Buffer.from(plain) };
}

test('a block inflates to what its steps say, whatever they are', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(literal, copy), { maxLength: 60 }), (steps) => {
      const { block, plain } = encode(steps);
      expect(finish(inflateSnappyBlock(block, plain.length)).equals(plain)).toBe(true);
    }),
  );
});

test('a body inflated beyond what is allowed is refused by its declared length', () => {
  const { block, plain } = encode([{ kind: 'literal', bytes: new Uint8Array(50), sizeBytes: 0 }]);
  expect(() => finish(inflateSnappyBlock(block, plain.length - 1))).toThrow(
    expect.objectContaining({ code: 'payload_too_large' }),
  );
});

test('a copy that overlaps itself repeats what it overlaps, at every distance and length', () => {
  const start = Uint8Array.from({ length: 40 }, (_, i) => i + 1);
  for (let back = 1; back <= start.length; back += 1) {
    for (let length = 1; length <= 64; length += 1) {
      const { block, plain } = encode([
        { kind: 'literal', bytes: start, sizeBytes: 0 },
        { kind: 'copy', back, length, offsetBytes: 2 },
        { kind: 'literal', bytes: start.subarray(0, 1 + (length % 20)), sizeBytes: 1 },
      ]);
      expect(finish(inflateSnappyBlock(block, plain.length))).toEqual(plain);
    }
  }
});

test('inflating into a used buffer gives the same bytes, whatever it held and however large it was', () => {
  const room = new ScratchBuffer(300);
  fc.assert(
    fc.property(fc.array(fc.oneof(literal, copy), { maxLength: 20 }), (steps) => {
      const { block, plain } = encode(steps);
      expect(finish(inflateSnappyBlock(block, plain.length, room)).equals(plain)).toBe(true);
    }),
  );
});

test('a room keeps what one body after the other needs, and nothing of those beyond its bound', () => {
  const room = new ScratchBuffer(100);
  const { bytes } = room.take(100);
  expect(room.take(40).bytes).toBe(bytes);
  expect(room.take(101).bytes).toHaveLength(101);
  expect(room.take(100).bytes).toBe(bytes);
});
