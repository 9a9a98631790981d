import { expect, test } from 'vitest';

import { growthBetween } from '#modules/metrics/decide/series_points.ts';
import { baseOf, type CounterWriter, earlierOf, momentOf } from '#modules/metrics/decide/counter_writers.ts';

const MINUTE = 60_000;
const writer = (startAt: number, at: number, value: number): CounterWriter => ({ startAt, at, value });

test.each([
  [1_000_010, 1_000_009, -1],
  [10, 10 - 1e-9, -1e-9],
  [1000, 876, -124],
  [1000, 875, 875],
  [1000, 0, 0],
  [3, 2, 2],
  [0, 5, 5],
  [5, 5, 0],
  [-100, -105, -5],
  [-105, -100, 5],
  [5, -2, -7],
])('from %d to %d a counter grows by %d', (before, now, growth) => {
  expect(growthBetween(before, now)).toBeCloseTo(growth, 12);
});

test('a counter that goes up and down a little grows by what it grew by on the whole', () => {
  const values = [1000, 990, 1010, 1000, 1020];
  const growths = values.slice(1).map((value, place) => growthBetween(values[place] ?? 0, value));
  expect(growths.reduce((sum, growth) => sum + growth, 0)).toBe(20);
});

test('the first sample that is heard of follows its start', () => {
  expect(baseOf(writer(0, MINUTE, 5), null, null)).toEqual({ kind: 'start' });
});

test('a sample of the same process follows the one before, also where its start is computed anew', () => {
  expect(baseOf(writer(1000, 2 * MINUTE, 6), writer(1020, MINUTE, 5), null)).toEqual({ kind: 'none' });
});

test('a process that begins after the last sample of the one before it is a restart', () => {
  expect(baseOf(writer(MINUTE, 2 * MINUTE, 6), writer(0, MINUTE, 5), null)).toEqual({ kind: 'start' });
});

test('a process that began while another one wrote counts from its own start, if that is not long ago', () => {
  const current = writer(0, 9 * MINUTE, 50_000_000);
  const young = baseOf(writer(8 * MINUTE, 10 * MINUTE, 6), current, null);
  expect(young).toEqual({ kind: 'value', value: 0, isOverlap: false });
  const old = baseOf(writer(2 * MINUTE, 10 * MINUTE, 600), current, null);
  expect(old).toEqual({ kind: 'value', value: 600, isOverlap: false });
});

test('a process that writes again after another one goes on from what it wrote last, and both overlap', () => {
  const [first, second] = [writer(0, 8 * MINUTE, 1000), writer(5 * MINUTE, 9 * MINUTE, 3)];
  const base = baseOf(writer(0, 10 * MINUTE, 1002), second, first);
  expect(base).toEqual({ kind: 'value', value: 1000, isOverlap: true });
});

test('what is sent again, or comes late from before a restart, changes nothing', () => {
  const [first, second] = [writer(0, 8 * MINUTE, 1000), writer(5 * MINUTE, 9 * MINUTE, 3)];
  expect(baseOf(first, second, first)).toEqual({ kind: 'none' });
  expect(baseOf(writer(0, 7 * MINUTE, 999), second, null)).toEqual({ kind: 'none' });
});

test('a process that began within a second of another one, and has counted less, is another one', () => {
  const base = baseOf(writer(1_500, 2 * MINUTE, 3), writer(0, MINUTE, 5), null);
  expect(base).toEqual({ kind: 'value', value: 0, isOverlap: false });
});

test.each([
  ['as long after its start', 1_000, MINUTE + 1_020],
  ['at the same time', 1_000, MINUTE + 300],
  ['and began almost at once', 20, MINUTE + 25],
])('a process that sends %s is another one, also where it has counted more', (_, startAt, at) => {
  const [first, second] = [writer(0, MINUTE, 5), writer(startAt, at, 9)];
  expect(baseOf(second, first, null)).toEqual({ kind: 'value', value: 0, isOverlap: false });
  expect(earlierOf([first], second)).toBeNull();
});

test('a process that computes its start from its uptime and sends each second is one', () => {
  expect(baseOf(writer(0, MINUTE + 2_000, 9), writer(1_000, MINUTE + 1_000, 5), null)).toEqual({ kind: 'none' });
  expect(baseOf(writer(20, MINUTE + 1_000, 9), writer(0, MINUTE, 5), null)).toEqual({ kind: 'none' });
});

test('what was counted before the first sample of a series that several write is no growth', () => {
  expect(baseOf(writer(0, MINUTE, 5), null, null, true)).toEqual({ kind: 'value', value: 5, isOverlap: true });
});

test('a sample goes on from the process whose start is close, unless that one has counted more', () => {
  const [more, less] = [writer(0, MINUTE, 9), writer(500, MINUTE, 4)];
  expect(earlierOf([more, less], writer(1_000, 2 * MINUTE, 5))).toBe(less);
  expect(earlierOf([more], writer(1_000, 2 * MINUTE, 5))).toBeNull();
});

test('what two processes send at one moment is stored at two, with room for what goes before it', () => {
  const [first, second] = [writer(0, MINUTE, 5), writer(30_000, MINUTE, 9)];
  expect(momentOf(second, first, null)).toBe(MINUTE + 2);
  expect(momentOf(writer(30_000, MINUTE + 1, 9), first, null)).toBe(MINUTE + 2);
  expect(momentOf(writer(30_000, MINUTE + 2, 9), first, null)).toBe(MINUTE + 2);
  // Sent again.
  expect(momentOf(second, writer(0, 2 * MINUTE, 6), writer(30_000, MINUTE + 2, 9))).toBe(MINUTE + 2);
  // A restart, one process, and a late sample.
  expect(momentOf(writer(MINUTE, MINUTE, 0), first, null)).toBe(MINUTE);
  expect(momentOf(writer(0, MINUTE, 6), first, first)).toBe(MINUTE);
  expect(momentOf(writer(30_000, MINUTE - 1_000, 8), first, null)).toBe(MINUTE - 1_000);
  expect(momentOf(writer(0, MINUTE - 100, 4), first, first)).toBe(MINUTE - 100);
});

test('a process that has counted more than later has set its clock back', () => {
  const before = writer(0, MINUTE, 5);
  expect(momentOf(writer(0, MINUTE - 10_000, 6), before, before)).toBe(MINUTE + 1);
  expect(momentOf(writer(0, MINUTE - 10_000, 6), writer(30_000, 2 * MINUTE, 9), before)).toBe(2 * MINUTE + 1);
  // A late sample, and a clock that is far off.
  expect(momentOf(writer(0, MINUTE - 10_000, 5), before, before)).toBe(MINUTE - 10_000);
  expect(momentOf(writer(0, MINUTE - 3_600_000, 6), before, before)).toBe(MINUTE - 3_600_000);
});
