import { expect, test } from 'vitest';
import { seriesKey } from '#test/kit/metrics/points.ts';

test('a key is the same in every release: stored series are found by it', () => {
  expect(seriesKey('up', [])).toBe(3657105575656812918n);
  expect(seriesKey('http_requests_total', ['code', '200', 'route', '/a'])).toBe(7904135881613169041n);
  expect(seriesKey('größe', ['ort', '東京'])).toBe(3989382387929017411n);
});

test('a key is a UInt64', () => {
  for (let i = 0; i < 1000; i += 1) {
    const key = seriesKey('m', ['i', String(i)]);
    expect(key >= 0n && key < 2n ** 64n).toBe(true);
  }
});

test('texts keep their places: what moves between name, label and value makes another series', () => {
  const keys = [
    seriesKey('a', []),
    seriesKey('a', ['b', 'c']),
    seriesKey('a', ['c', 'b']),
    seriesKey('b', ['a', 'c']),
    seriesKey('a', ['bc', '']),
    seriesKey('a', ['', 'bc']),
    seriesKey('ab', ['c', '']),
    seriesKey('a\0', []),
    seriesKey('a', ['b', 'c\0']),
    seriesKey('a', ['b', 'c', 'd', 'e']),
    seriesKey('a', ['d', 'e', 'b', 'c']),
  ];
  expect(new Set(keys).size).toBe(keys.length);
});

test('near-identical series spread over all 64 bits', () => {
  const count = 40_000;
  const keys = new Set<bigint>();
  const halves = [new Set<bigint>(), new Set<bigint>()] as const;
  for (let i = 0; i < count; i += 1) {
    const key = seriesKey('http_requests_total', ['code', String(200 + (i % 7)), 'instance', `10.0.0.${i}:9090`]);
    keys.add(key);
    halves[0].add(key >> 32n);
    halves[1].add(key & 0xffffffffn);
  }
  expect(keys.size).toBe(count);
  // By chance alone some 0.2 pairs of 40,000 share 32 given bits.
  for (const half of halves) expect(count - half.size).toBeLessThan(5);
});
