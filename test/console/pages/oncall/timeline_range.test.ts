import { afterEach, describe, expect, test, vi } from 'vitest';

import { readLocalField, readOrKeep, toLocalField } from '#console/pages/oncall/local_time.ts';
import { readTimelineFilter, TIMELINE_VIEWS } from '#console/pages/oncall/timeline_filter.ts';
import {
  addToRange,
  dayText,
  marksOf,
  findDay,
  placeOf,
  rangeFrom,
  rangeOf,
} from '#console/pages/oncall/timeline_range.ts';

afterEach(() => vi.unstubAllEnvs());

const HOUR_MS = 3_600_000;
const ZONES = [
  'UTC',
  'Europe/Amsterdam',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'America/Sao_Paulo',
  'Antarctica/Troll',
];

describe.each(ZONES)('in %s', (zone) => {
  test.each(TIMELINE_VIEWS)('the days of a %s tile it, and the next one begins where it ends', (view) => {
    vi.stubEnv('TZ', zone);
    for (let month = 0; month < 40; month += 1) {
      const day = new Date(2009, month, 13, 15);
      const { from, to, days } = rangeOf(view, day);
      expect(from <= day.getTime() && day.getTime() < to).toBe(true);
      expect([days[0]!.start, days.at(-1)!.end]).toEqual([from, to]);
      for (const [index, { start, end }] of days.entries()) {
        expect(start).toBe(days[index - 1]?.end ?? from);
        expect(end - start).toBeGreaterThan(20 * HOUR_MS);
        expect(end - start).toBeLessThan(50 * HOUR_MS);
      }
      expect(rangeOf(view, addToRange(view, day, 1)).from).toBe(to);
      expect(rangeOf(view, addToRange(view, addToRange(view, day, 1), -1)).from).toBe(from);
    }
  });
});

test('a week begins on Monday and a month on its first day', () => {
  const day = new Date(2026, 10, 22);
  expect(dayText(new Date(rangeOf('two_weeks', day).from))).toBe('2026-11-16');
  expect(dayText(new Date(rangeOf('month', day).from))).toBe('2026-11-01');
  expect(rangeOf('month', day).days).toHaveLength(30);
  expect(marksOf(rangeOf('month', day))).toEqual(rangeOf('month', day).days);
});

test('a quarter begins with its first month, and its weeks are marked, each from Monday', () => {
  const range = rangeOf('quarter', new Date(2026, 10, 22));
  expect([range.from, range.to].map((at) => dayText(new Date(at)))).toEqual(['2026-10-01', '2027-01-01']);
  const marks = marksOf(range);
  expect(marks.slice(0, 2).map(({ start }) => dayText(new Date(start)))).toEqual(['2026-10-01', '2026-10-05']);
  expect(marks).toHaveLength(14);
  expect(marks.at(-1)!.end).toBe(range.to);
});

test('an instant has its place in percent, and what lies outside is at the edge', () => {
  const range = { from: 100, to: 300 };
  expect([50, 100, 150, 300, 400].map((at) => placeOf(at, range))).toEqual([0, 0, 25, 100, 100]);
});

test('the address holds what differs from two weeks from now on, and nothing that is no filter', () => {
  expect(readTimelineFilter({ view: 'month', day: '2026-11-22', team: 'team_1' })).toEqual({
    view: 'month',
    day: '2026-11-22',
    team: 'team_1',
  });
  expect(readTimelineFilter({ view: 'two_weeks', day: 7, team: '' })).toEqual({});
  expect(['2026-02-30', '0001-01-01', '9999-01-01', 'soon', ''].map(findDay)).toEqual([null, null, null, null, null]);
});

test('a field keeps the exact time that it was filled with as long as nobody has changed it', () => {
  vi.stubEnv('TZ', 'Europe/Amsterdam');
  const secondPass = Date.parse('2026-10-25T01:30:20Z');
  expect(toLocalField(secondPass)).toBe('2026-10-25T02:30');
  expect(readOrKeep('2026-10-25T02:30', secondPass)).toBe(secondPass);
  expect(readOrKeep('2026-10-25T02:31', secondPass)).toBe(Date.parse('2026-10-25T00:31:00Z'));
  expect(readLocalField('')).toBeNull();
});

test('a range from a day begins with it, and has so many days over a change of clocks', () => {
  vi.stubEnv('TZ', 'Europe/Amsterdam');
  const { from, to, days } = rangeFrom(new Date(2026, 9, 22, 15), 7);
  expect([dayText(new Date(from)), dayText(new Date(to)), days.length]).toEqual(['2026-10-22', '2026-10-29', 7]);
  expect(to - from).toBe(7 * 24 * HOUR_MS + HOUR_MS);
});
