import fc from '#test/kit/properties.ts';
import { expect, test } from 'vitest';

import { countsOn, EMPTY_TOTALS, lastDays, outdatedAt, restUntil } from '#modules/exceptions/decide/group_counts.ts';
import { Temporal } from '#kernel/time.ts';

const NOW = Temporal.Instant.from('2027-03-01T10:00:00Z');

test('the last days end today and have a number each, also where nothing came', () => {
  const days = lastDays(NOW, 3);
  expect(days).toEqual(['2027-02-27', '2027-02-28', '2027-03-01']);
  const counts = [
    ['2027-01-01', 9],
    ['2027-02-28', 4],
  ] as const;
  expect(countsOn(counts, days)).toEqual([0, 4, 0]);
});

test('counts are outdated as soon as no event of the oldest day is kept, which lies ahead while one is', () => {
  expect(outdatedAt(EMPTY_TOTALS, 90)).toBeNull();
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 400 }), fc.double({ min: 0, max: 1, noNaN: true }), (days, share) => {
      const oldestKept = NOW.subtract({ seconds: Math.floor(share * days * 86_400) });
      const day = oldestKept.toZonedDateTimeISO('UTC').toPlainDate();
      const due = outdatedAt({ ...EMPTY_TOTALS, days: [[day.toString(), 1]] }, days)!;
      expect(Temporal.Instant.compare(due, NOW)).toBe(1);
      const lastOfDay = day.add({ days: 1 }).toZonedDateTime('UTC').toInstant();
      expect(due.subtract({ hours: 24 * days }).equals(lastOfDay)).toBe(true);
    }),
  );
});

test('a group rests the longer the longer counting takes, within bounds', () => {
  expect(restUntil(NOW, 0)).toEqual(NOW.add({ seconds: 4 }));
  expect(restUntil(NOW, 400)).toEqual(NOW.add({ seconds: 24 }));
  expect(restUntil(NOW, 1e9)).toEqual(NOW.add({ seconds: 600 }));
});

test('groups that are counted within a few seconds of each other are due together', () => {
  const later = [0, 1, 1_900, 3_999].map((milliseconds) => restUntil(NOW.add({ milliseconds }), 0).toString());
  expect(new Set(later)).toEqual(new Set([NOW.add({ seconds: 4 }).toString()]));
});
