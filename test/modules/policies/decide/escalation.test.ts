import fc from '#test/kit/properties.ts';
import { describe, expect, test } from 'vitest';

import { firstStepOfRun, planSteps, resumeTimers, stepAfter, stepAt } from '#modules/policies/decide/escalation.ts';
import { FAR_FUTURE } from '#kernel/time.ts';
import { at } from '#test/modules/schedules/decide/given_rotation.ts';

const TRIGGERED = at('2026-03-29T00:30:00Z');

const stepsAfter = (...minutes: number[]) => minutes.map((afterMinutes) => ({ afterMinutes }));

describe('the plan', () => {
  test('each step comes due after the trigger, not after the step before', () => {
    expect(planSteps(stepsAfter(0, 5, 15), TRIGGERED).map((step) => step.dueAt.toString())).toEqual([
      '2026-03-29T00:30:00Z',
      '2026-03-29T00:35:00Z',
      '2026-03-29T00:45:00Z',
    ]);
  });

  test('the longest wait that the contract allows never comes due', () => {
    const [step] = planSteps(stepsAfter(Number.MAX_SAFE_INTEGER), TRIGGERED);
    expect(step?.dueAt).toEqual(FAR_FUTURE);
  });
});

test('a run begins with the first step that counts from the time of the last', () => {
  const run = (...times: (string | undefined)[]) =>
    times.map((countsFrom) => ({ ...(countsFrom !== undefined && { countsFrom }) }));
  expect(firstStepOfRun([])).toBe(0);
  expect(firstStepOfRun(run(undefined, undefined))).toBe(0);
  expect(firstStepOfRun(run(undefined, undefined, 'a', 'a'))).toBe(2);
  // The oldest steps of a long incident are dropped, and the others keep their numbers.
  expect(firstStepOfRun(run('a', 'b', 'b').map((step, place) => ({ ...step, index: 40 + place })))).toBe(41);
});

describe('the step that fires at once when one reaches nobody', () => {
  test('is the next in time, and among equal times in the order of the policy', () => {
    const steps = stepsAfter(10, 0, 5, 5);
    expect([1, 2, 3, 0].map((index) => stepAfter(steps, index))).toEqual([2, 3, 0, null]);
    expect(stepAfter(steps, 9)).toBeNull();
    const reassigned = [
      { index: 4, afterMinutes: 0 },
      { index: 5, afterMinutes: 5 },
    ];
    expect([3, 4, 5].map((index) => stepAt(reassigned, index)?.afterMinutes)).toEqual([undefined, 0, 5]);
    expect(stepAfter(reassigned, 4)).toBe(5);
  });

  test('going on from step to step meets every step once', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 8 }), (minutes) => {
        const first = minutes.indexOf(Math.min(...minutes));
        const met: number[] = [];
        for (let step: number | null = first; step !== null; step = stepAfter(stepsAfter(...minutes), step))
          met.push(step);
        expect(new Set(met)).toEqual(new Set(minutes.keys()));
        expect(met).toHaveLength(minutes.length);
      }),
    );
  });
});

describe('an answer that is taken back', () => {
  const stopped = planSteps(stepsAfter(10, 30, Number.MAX_SAFE_INTEGER), TRIGGERED);
  const stoppedAt = TRIGGERED.add({ minutes: 8 });
  const dueAfter = (minutes: number) =>
    resumeTimers(stopped, stoppedAt, stoppedAt.add({ minutes })).map(({ dueAt }) => dueAt.toString());

  test('within five minutes leaves every timer as it was, so that what has come due fires at once', () => {
    expect(dueAfter(5)).toEqual(stopped.map(({ dueAt }) => dueAt.toString()));
  });

  test('later takes the escalation up where it stood, and never beyond what can be stored', () => {
    expect(dueAfter(60)).toEqual(['2026-03-29T01:40:00Z', '2026-03-29T02:00:00Z', FAR_FUTURE.toString()]);
  });
});
