import { expect, test } from 'vitest';

import { Temporal } from '#kernel/time.ts';
import { ZoneClock } from '#kernel/zone_clock.ts';
import fc from '#test/kit/properties.ts';

const ZONES = Intl.supportedValuesOf('timeZone');
const MINUTE_MS = 60_000;
const minutesFrom = (from: string, to: string) =>
  fc
    .integer({ min: Date.parse(from) / MINUTE_MS, max: Date.parse(to) / MINUTE_MS })
    .map((minute) => minute * MINUTE_MS);

test.each([
  ['any zone today', ZONES, minutesFrom('2025-01-01', '2028-01-01')],
  ['zones that crossed the date line', ['Pacific/Apia', 'Pacific/Fakaofo'], minutesFrom('2011-12-25', '2012-01-05')],
  ['a change of half an hour', ['Australia/Lord_Howe'], minutesFrom('2026-04-01', '2026-04-08')],
])('shows and finds what Temporal does, in %s', (_what, zones, instants) => {
  fc.assert(
    fc.property(fc.constantFrom(...zones), fc.array(instants, { minLength: 1, maxLength: 5 }), (zone, moments) => {
      const clock = new ZoneClock(zone);
      for (const ms of moments) {
        const wall = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO('UTC').toPlainDateTime();
        expect([zone, clock.instantOf(ms)]).toEqual([zone, wall.toZonedDateTime(zone).epochMilliseconds]);
        const shown = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).toPlainDateTime();
        expect([zone, clock.wallOf(ms)]).toEqual([zone, shown.toZonedDateTime('UTC').epochMilliseconds]);
      }
    }),
    { numRuns: 400 },
  );
});
