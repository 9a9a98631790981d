import { describe, expect, test } from 'vitest';

import { fromEpochMilliseconds, Temporal } from '#kernel/time.ts';
import { dueWithin, isWithin, nextWithin, type WeeklyHours } from '#modules/policies/decide/hours.ts';
import { ODD_TIMES, ODD_ZONES, showsOpen } from '#test/modules/policies/decide/wall_clock.ts';
import fc, { slowRuns } from '#test/kit/properties.ts';

const time = fc.integer({ min: 0, max: 95 }).map((quarter) => {
  return `${String(Math.floor(quarter / 4)).padStart(2, '0')}:${String((quarter % 4) * 15).padStart(2, '0')}`;
});

const anyHours: fc.Arbitrary<WeeklyHours> = fc.record({
  timezone: fc.constantFrom(...ODD_ZONES),
  windows: fc.array(
    fc.record({
      days: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 7 }),
      from: time,
      to: fc.oneof(time, fc.constant('24:00')),
    }),
    { minLength: 1, maxLength: 3 },
  ),
});

const anyTime = fc
  .tuple(fc.constantFrom(...ODD_TIMES), fc.integer({ min: -1_500, max: 2_500 }))
  .map(([ms, minutes]) => ms + minutes * 60_000);

const office: WeeklyHours = {
  timezone: 'Europe/Amsterdam',
  windows: [{ days: [1, 2, 3, 4, 5], from: '09:00', to: '17:00' }],
};
const at = (text: string) => Temporal.Instant.from(text);

describe('hours of a policy', () => {
  test('minutes count within them alone: half an hour before the end, the rest on the next day', () => {
    expect(dueWithin(office, at('2026-06-15T14:50:00Z'), 5).toString()).toBe('2026-06-15T14:55:00Z');
    expect(dueWithin(office, at('2026-06-15T14:50:00Z'), 30).toString()).toBe('2026-06-16T07:20:00Z');
    expect(dueWithin(office, at('2026-06-19T20:00:00Z'), 0).toString()).toBe('2026-06-22T07:00:00Z');
  });

  test('their end belongs to the next beginning', () => {
    expect(isWithin(office, at('2026-06-15T15:00:00Z'))).toBe(false);
    expect(dueWithin(office, at('2026-06-15T14:50:00Z'), 10).toString()).toBe('2026-06-16T07:00:00Z');
  });

  test('begin at the same local time after the clocks changed', () => {
    expect(nextWithin(office, at('2026-03-27T17:00:00Z')).toString()).toBe('2026-03-30T07:00:00Z');
    expect(nextWithin(office, at('2026-10-23T17:00:00Z')).toString()).toBe('2026-10-26T08:00:00Z');
  });

  test('that never come, and minutes beyond all bounds, are never due', () => {
    const never = { timezone: 'UTC', windows: [] };
    expect(nextWithin(never, at('2026-06-15T15:00:00Z')).toString()).toBe('2200-01-01T00:00:00Z');
    expect(dueWithin(office, at('2026-06-15T08:00:00Z'), Number.MAX_SAFE_INTEGER).toString()).toBe(
      '2200-01-01T00:00:00Z',
    );
  });

  test('agree with a clock on the wall that is read minute by minute', () => {
    fc.assert(
      fc.property(anyHours, anyTime, fc.integer({ min: 0, max: 900 }), (hours, fromMs, minutes) => {
        expect(isWithin(hours, fromEpochMilliseconds(fromMs))).toBe(showsOpen(hours, fromMs));
        let [ms, passed] = [fromMs, 0];
        for (; ; ms += 60_000) {
          const isOpen = showsOpen(hours, ms);
          if (isOpen && passed >= minutes) break;
          if (isOpen) passed += 1;
          if (ms - fromMs > 40 * 86_400_000) return;
        }
        const due = dueWithin(hours, fromEpochMilliseconds(fromMs), minutes);
        expect(due.toString()).toBe(fromEpochMilliseconds(ms).toString());
      }),
      { numRuns: slowRuns(10_000, 60) },
    );
  });
});
