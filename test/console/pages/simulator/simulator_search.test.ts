import { expect, test } from 'vitest';

import {
  fromLocalInput,
  nextNight,
  readSimulatorSearch,
  shifted,
  toLocalInput,
} from '#console/pages/simulator/simulator_search.ts';

test('the address holds a service, a rule and a time; a malformed time is left out', () => {
  expect(readSimulatorSearch({ service: 's', rule: 'r', at: '2026-03-04T03:00+01:00' })).toEqual({
    service: 's',
    rule: 'r',
    at: '2026-03-04T02:00:00.000Z',
  });
  expect(readSimulatorSearch({ service: 1, rule: '', alerts: '2', at: 'soon' })).toEqual({});
  expect(readSimulatorSearch({ service: 's', alerts: 2 })).toEqual({ service: 's', alerts: 2 });
  expect(readSimulatorSearch({ alerts: 1.5 })).toEqual({});
});

test('a time in the field is the same time again, to the minute', () => {
  const at = new Date(2026, 2, 4, 3, 7).getTime();
  expect(toLocalInput(at)).toBe('2026-03-04T03:07');
  expect(fromLocalInput(toLocalInput(at))).toBe(new Date(at).toISOString());
  expect(fromLocalInput('')).toBeNull();
  expect(fromLocalInput('2026-13-01T00:00')).toBeNull();
});

test('the next night begins at three, today or tomorrow', () => {
  expect(toLocalInput(Date.parse(nextNight(new Date(2026, 2, 4, 2, 59).getTime())))).toBe('2026-03-04T03:00');
  expect(toLocalInput(Date.parse(nextNight(new Date(2026, 2, 4, 3, 0).getTime())))).toBe('2026-03-05T03:00');
});

test('a day later is the same time of day', () => {
  const at = new Date(2026, 2, 28, 12, 30).toISOString();
  expect(toLocalInput(Date.parse(shifted(at, { days: 1 })))).toBe('2026-03-29T12:30');
  expect(Date.parse(shifted(at, { hours: -1 })) - Date.parse(at)).toBe(-3_600_000);
});
