import { expect, test } from 'vitest';

import { daysOfMonth, isoDateOf, isoOf, monthsBetween, parseIsoMs, utcFieldsOf, utcMs } from '#kernel/wall_clock.ts';

test('months are counted from 1, and fields carry over', () => {
  expect(isoOf(utcMs(2026, 2, 28, 23, 59, 58))).toBe('2026-02-28T23:59:58.000Z');
  expect(isoOf(utcMs(2026, 14, 1))).toBe('2027-02-01T00:00:00.000Z');
  expect(utcFieldsOf(utcMs(2028, 3, 0))).toEqual({ year: 2028, month: 2, day: 29 });
  expect(utcFieldsOf(-1)).toEqual({ year: 1969, month: 12, day: 31 });
});

test('a month has its days, also in years to which it carries over', () => {
  expect([2, 4, 12, 14, -10].map((month) => daysOfMonth(2027, month))).toEqual([28, 30, 31, 29, 28]);
});

test('months lie between times whatever their days', () => {
  const [last, first] = [utcMs(2026, 12, 31, 23), utcMs(2027, 1, 1)];
  expect([monthsBetween(last, first), monthsBetween(first, last), monthsBetween(first, first)]).toEqual([1, -1, 0]);
});

test('texts are read and written', () => {
  expect(parseIsoMs('2026-11-28T10:00:00.5+01:00')).toBe(utcMs(2026, 11, 28, 9) + 500);
  expect(isoDateOf(parseIsoMs('2026-11-28')!)).toBe('2026-11-28');
  expect([parseIsoMs('2026-13-01'), parseIsoMs('soon')]).toEqual([null, null]);
});
