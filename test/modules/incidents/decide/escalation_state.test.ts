import { expect, test } from 'vitest';

import {
  decideEscalate,
  escalationStateOf,
  type StepState,
  waitsFor,
} from '#modules/incidents/decide/escalation_state.ts';
import { INCIDENT_STATUSES } from '#modules/incidents/decide/incident.ts';
import { planSteps } from '#modules/policies/decide/escalation.ts';
import fc from '#test/kit/properties.ts';
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

const TRIGGERED = at('2026-03-29T00:30:00Z');

const timersOf = (minutes: readonly number[], fired: readonly number[] = []): StepState[] =>
  planSteps(
    minutes.map((afterMinutes) => ({ afterMinutes })),
    TRIGGERED,
  ).map((step) => ({ ...step, state: fired.includes(step.stepIndex) ? 'fired' : 'pending' }));

test('the next step is the earliest that has not fired, with the time at which it is due', () => {
  const nextAfter = (fired: readonly number[]) => escalationStateOf('triggered', timersOf([0, 5, 15], fired));
  expect(nextAfter([])).toEqual({ state: 'running', nextStep: 0, nextStepAt: TRIGGERED, stepCount: 3 });
  expect(nextAfter([0])).toMatchObject({ nextStep: 1, nextStepAt: TRIGGERED.add({ minutes: 5 }) });
  expect(nextAfter([0, 1, 2])).toEqual({ state: 'finished', nextStep: null, nextStepAt: null, stepCount: 3 });
});

test('a step that was brought forward comes before those that are due earlier by the policy', () => {
  const timers = timersOf([0, 5, 15], [0]);
  const expedited = timers.map((timer) => (timer.stepIndex === 2 ? { ...timer, dueAt: TRIGGERED } : timer));
  expect(escalationStateOf('triggered', expedited)).toMatchObject({ nextStep: 2, nextStepAt: TRIGGERED });
});

test('an incident without a policy has no escalation, and an answered one has no next step', () => {
  const none = { nextStep: null, nextStepAt: null };
  for (const status of ['triggered', 'acknowledged', 'resolved'] as const) {
    expect(escalationStateOf(status, [])).toEqual({ state: 'none', ...none, stepCount: 0 });
  }
  expect(escalationStateOf('acknowledged', timersOf([0, 5]))).toEqual({ state: 'paused', ...none, stepCount: 2 });
  expect(escalationStateOf('resolved', timersOf([0, 5]))).toEqual({ state: 'finished', ...none, stepCount: 2 });
});

test('before its first page an incident waits for its parent, and else for a maintenance or for hours', () => {
  const always = { index: 0, afterMinutes: 0, channels: ['sms'], targetUserIds: [], useSchedule: true } as const;
  const hours = { timezone: 'UTC', windows: [{ days: [1], from: '09:00', to: '17:00' }], afterMinutes: 0 };
  const waiting: Parameters<typeof waitsFor>[0] = {
    status: 'triggered',
    triggeredAt: TRIGGERED,
    parentId: null,
    suppressedUntil: null,
    steps: [always],
  };
  const reason = (changes: object, timers = timersOf([0])) => waitsFor({ ...waiting, ...changes }, timers);
  expect(reason({})).toBeNull();
  expect(reason({ parentId: 'incident_1', suppressedUntil: TRIGGERED })).toBe('incident');
  expect(reason({ suppressedUntil: TRIGGERED })).toBe('maintenance');
  const steps = [{ ...always, hours }];
  expect(reason({ steps }, [{ stepIndex: 0, state: 'pending', dueAt: TRIGGERED.add({ hours: 33 }) }])).toBe('hours');
  expect(reason({ parentId: 'incident_1' }, timersOf([0, 5], [0]))).toBeNull();
  expect(reason({ parentId: 'incident_1', status: 'acknowledged' })).toBeNull();
});

test('firing the next step again and again fires every step once, in the order of time and then of the policy', () => {
  const anyMinutes = fc.oneof(fc.integer({ min: 0, max: 60 }), fc.constant(Number.MAX_SAFE_INTEGER));
  fc.assert(
    fc.property(fc.array(anyMinutes, { minLength: 1, maxLength: 8 }), (minutes) => {
      const fired: number[] = [];
      for (;;) {
        const { nextStep } = escalationStateOf('triggered', timersOf(minutes, fired));
        if (nextStep === null) break;
        fired.push(nextStep);
      }
      expect(fired).toEqual([...minutes.keys()].sort((a, b) => minutes[a]! - minutes[b]! || a - b));
    }),
  );
});
