import fc from '#test/kit/properties.ts';
import { describe, expect, test } from 'vitest';

import { HashTable, PROBES_MAX } from '#ingest/hashing/hash_table.ts';
import { hashPair, hashSpan } from '#ingest/hashing/keyed_hash.ts';
import { SpanIndex } from '#ingest/hashing/span_index.ts';
import { SeriesIndex } from '#ingest/series/series_index.ts';

/** A table of these keys, and a search in it that counts how many keys it compares. */
function tableOf(keys: readonly number[], hashOf: (key: number) => number) {
  const table = new HashTable();
  for (const key of keys) table.add(hashOf(key));
  const find = (key: number) => {
    const hash = hashOf(key);
    let comparisons = 0;
    for (let entry = table.first(hash); entry !== -1; entry = table.next(hash)) {
      comparisons += 1;
      if (keys[entry] === key) return { entry, comparisons };
    }
    return { entry: -1, comparisons };
  };
  return { find, table };
}

test('an entry is found by its key, and a key that was not added is not', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer(), { maxLength: 2_000 }), fc.integer(), (keys, other) => {
      const { find, table } = tableOf(keys, (key) => hashPair(0, key));
      expect(table.size).toBe(keys.length);
      for (const [entry, key] of keys.entries()) expect(find(key).entry).toBe(entry);
      expect(find(other).entry).toBe(keys.indexOf(other));
    }),
  );
});

test('however hashes collide, a search ends after a bounded number of comparisons and the table stays small', () => {
  const keys = Array.from({ length: 20_000 }, (_, i) => i);
  const { find } = tableOf(keys, () => 7);
  for (const key of [0, 63, 64, 19_999, -1]) expect(find(key).comparisons).toBeLessThanOrEqual(PROBES_MAX);
  expect(find(0).entry).toBe(0);
  expect(find(19_999).entry).toBe(-1);
});

describe('keys that collide in a hash without a secret', () => {
  /** FNV-like, as tables had it before: a change of its highest bit can be cancelled by the next word. */
  const unkeyed = (bytes: Buffer): number => {
    let hash = 0x811c9dc5 ^ bytes.length;
    for (let i = 0; i < bytes.length; i += 4) {
      hash = Math.imul(hash ^ bytes.readInt32LE(i), 0x85ebca6b);
      hash ^= hash >>> 15;
    }
    return hash ^ (hash >>> 13);
  };
  /** 2^14 different spans of 112 bytes with one and the same unkeyed hash. */
  const spans = Array.from({ length: 2 ** 14 }, (_, number) => {
    const span = Buffer.alloc(14 * 8, 'x');
    for (let pair = 0; pair < 14; pair += 1) {
      if (((number >> pair) & 1) === 0) continue;
      span.writeInt32LE(span.readInt32LE(pair * 8) ^ 0x8000_0000, pair * 8);
      span.writeInt32LE(span.readInt32LE(pair * 8 + 4) ^ (0x8000_0000 | (1 << 16)), pair * 8 + 4);
    }
    return span;
  });

  test('are spread over a table by the keyed hash, so that each is found within a few comparisons', () => {
    expect(new Set(spans.map(unkeyed)).size).toBe(1);
    const hashes = spans.map((span) => hashSpan(viewOf(span), 0, span.length));
    expect(new Set(hashes).size).toBeGreaterThan(spans.length - 5);
    const { find } = tableOf([...spans.keys()], (key) => hashes[key]!);
    const comparisons = spans.map((_, key) => find(key).comparisons);
    expect(comparisons.reduce((sum, count) => sum + count, 0) / spans.length).toBeLessThan(2);
    expect(Math.max(...comparisons)).toBeLessThan(PROBES_MAX);
  });

  test('are all found by their bytes', () => {
    const view = viewOf(Buffer.concat(spans));
    const index = new SpanIndex(view);
    for (const [number, { length }] of spans.entries()) {
      expect(index.numberOf(number * length, (number + 1) * length)).toBe(number);
    }
    for (const [number, { length }] of spans.entries()) {
      expect(index.numberOf(number * length, (number + 1) * length)).toBe(number);
    }
  });

  test('are told apart as keys of series, whose low halves a sender can choose', () => {
    const index = new SeriesIndex();
    const keys = Array.from({ length: 50_000 }, (_, i) => i);
    for (const key of keys) {
      index.find(key, 0);
      index.addSought();
    }
    expect(keys.toReversed().map((key) => index.find(key, 0))).toEqual(keys.toReversed());
    const hashes = Array.from({ length: 50_000 }, (_, i) => hashPair(i, 0) & 0xffff);
    const fullest = Math.max(...[...Map.groupBy(hashes, (hash) => hash).values()].map(({ length }) => length));
    expect(fullest).toBeLessThan(20);
  });
});

test('the hash of a span depends on each of its bytes, on its length, and on nothing around it', () => {
  for (let length = 0; length <= 20; length += 1) {
    const bytes = Buffer.from(Array.from({ length: length + 8 }, (_, i) => i + 1));
    const hash = hashSpan(viewOf(bytes), 4, 4 + length);
    for (let i = 0; i < bytes.length; i += 1) {
      const other = Buffer.from(bytes);
      other.writeUInt8(other.readUInt8(i) ^ 0x80, i);
      const isInside = i >= 4 && i < 4 + length;
      expect(hashSpan(viewOf(other), 4, 4 + length) !== hash).toBe(isInside);
    }
    expect(hashSpan(viewOf(bytes), 4, 5 + length)).not.toBe(hash);
  }
});

function viewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length);
}
