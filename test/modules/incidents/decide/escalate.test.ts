import fc from '#test/kit/properties.ts';
import { expect, test } from 'vitest';

import { decideEscalate } from '#modules/incidents/decide/escalation_state.ts';
import { INCIDENT_STATUSES } from '#modules/incidents/decide/incident.ts';
import { at } from '#test/modules/schedules/decide/given_rotation.ts';

const NOW = at('2026-03-29T00:30:00Z');

const steps = fc.array(
  fc.record({
    state: fc.constantFrom('pending', 'fired', 'skipped', 'cancelled'),
    minutes: fc.integer({ min: -5, max: 5 }),
  }),
  { maxLength: 6 },
);

test('a step fires before its time only while the incident waits for somebody and the step waits for its time', () => {
  fc.assert(
    fc.property(fc.constantFrom(...INCIDENT_STATUSES), steps, fc.nat(7), (status, given, stepIndex) => {
      const timers = given.map(({ state, minutes }, index) => ({
        stepIndex: index,
        state,
        dueAt: NOW.add({ minutes }),
      }));
      const asked = given[stepIndex];
      const waits = status === 'triggered' && asked?.state === 'pending' && asked.minutes > 0;
      expect(decideEscalate(status, timers, stepIndex, NOW).kind === 'fire_now').toBe(waits);
    }),
  );
});

test('of two people who ask for the same step the second changes nothing', () => {
  const fired = [{ stepIndex: 0, state: 'fired', dueAt: NOW }] as const;
  expect(decideEscalate('triggered', fired, 0, NOW)).toEqual({ kind: 'unchanged' });
  expect(decideEscalate('triggered', [{ ...fired[0], state: 'pending' }], 0, NOW)).toEqual({ kind: 'unchanged' });
  expect(decideEscalate('acknowledged', fired, 0, NOW)).toEqual({ kind: 'conflict', because: 'acknowledged' });
});
