import { describe, expect, test } from 'vitest';

import { coarseDurationText, countdownText, durationText, relativeText } from '#console/components/text/time_text.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('a duration', () => {
  test.each([
    [-5 * SECOND, '0 s'],
    [42 * SECOND, '42 s'],
    [59.4 * SECOND, '59 s'],
    [59.6 * SECOND, '1 min'],
    [5 * MINUTE + 59 * SECOND, '5 min'],
    [HOUR, '1 h'],
    [3 * HOUR + 20 * MINUTE, '3 h 20 min'],
    [2 * DAY, '2 d'],
    [2 * DAY + 5 * HOUR, '2 d 5 h'],
    [14 * DAY + 5 * HOUR, '14 d'],
  ])('of %i ms is %j', (ms, text) => expect(durationText(ms)).toBe(text));

  test.each([
    [59 * SECOND, '59 s'],
    [90 * SECOND, '2 min'],
    [35 * HOUR, '35 h'],
    [36 * HOUR, '2 d'],
    [60 * DAY, '2 months'],
  ])('of %i ms has one unit: %j', (ms, text) => expect(coarseDurationText(ms)).toBe(text));
});

test.each([
  [-1, 'now'],
  [0, 'now'],
  [1, '0:01'],
  [12 * MINUTE + 5 * SECOND, '12:05'],
  [HOUR, '1:00:00'],
  [DAY, '1 d'],
])('a countdown of %i ms shows %j', (ms, text) => expect(countdownText(ms)).toBe(text));

test.each([
  [44 * SECOND, 'just now'],
  [-44 * SECOND, 'just now'],
  [5 * MINUTE, 'in 5 min'],
  [-5 * MINUTE, '5 min ago'],
])('a time %i ms from now is %j', (difference, text) => expect(relativeText(difference, 0)).toBe(text));
