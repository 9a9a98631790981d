import { afterEach, describe, expect, test, vi } from 'vitest';

import { readLocalField, readOrKeep, toLocalField } from '#console/pages/oncall/local_time.ts';
import { readTimelineFilter, TIMELINE_VIEWS } from '#console/pages/oncall/timeline_filter.ts';
import {
  addToRange,
  dayText,
  marksOf,
  monthOf,
  findDay,
  placeOf,
  rangeFrom,
  rangeOf,
} from '#console/pages/oncall/timeline_range.ts';
import { sweep } from '#test/kit/properties.ts';

afterEach(() => vi.unstubAllEnvs());

const HOUR_MS = 3_600_000;
const MONTHS = Array.from({ length: 40 }, (_, month) => month);
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
    for (const month of sweep(MONTHS, 7)) {
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

test('every view begins with the Monday of its week: a month shows what is to come, and no days that are over', () => {
  const day = new Date(2026, 10, 30);
  for (const view of TIMELINE_VIEWS) expect(dayText(new Date(rangeOf(view, day).from))).toBe('2026-11-30');
  const ends = TIMELINE_VIEWS.map((view) => dayText(new Date(rangeOf(view, day).to)));
  expect(ends).toEqual(['2026-12-07', '2026-12-14', '2027-01-04', '2027-03-01']);
  expect(dayText(new Date(rangeOf('month', new Date(2026, 10, 22)).from))).toBe('2026-11-16');
  expect(marksOf(rangeOf('month', day))).toEqual(rangeOf('month', day).days);
  const weeks = marksOf(rangeOf('quarter', day)).map(({ start }) => dayText(new Date(start)));
  expect([weeks.length, ...weeks.slice(0, 2)]).toEqual([13, '2026-11-30', '2026-12-07']);
});

test('a month of the calendar has its days', () => {
  const { from, days } = monthOf(new Date(2026, 10, 22));
  expect([dayText(new Date(from)), days.length]).toEqual(['2026-11-01', 30]);
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
