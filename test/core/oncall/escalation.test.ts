import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import {
  type EscalationDecision,
  nextEscalation,
  planSteps,
  resumeTimers,
  stepAfter,
  type StepTimer,
} from '#core/oncall/escalation.ts';
import { FAR_FUTURE, isAtOrBefore, type Temporal } from '#kernel/time.ts';
import { at } from '#test/core/oncall/given_rotation.ts';

const TRIGGERED = at('2026-03-29T00:30:00Z');

const stepsAfter = (...minutes: number[]) => minutes.map((afterMinutes) => ({ afterMinutes }));

const timersOf = (minutes: readonly number[], fired: readonly number[] = []): StepTimer[] =>
  planSteps(stepsAfter(...minutes), TRIGGERED).map((step) => ({
    ...step,
    firedAt: fired.includes(step.stepIndex) ? TRIGGERED : null,
  }));

const decide = (minutes: readonly number[], fired: readonly number[], elapsedMinutes: number): EscalationDecision =>
  nextEscalation({ status: 'triggered', timers: timersOf(minutes, fired) }, TRIGGERED.add({ minutes: elapsedMinutes }));

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
    expect(decide([Number.MAX_SAFE_INTEGER], [], 50 * 365 * 24 * 60).kind).toBe('wait_until');
  });
});

describe('what to do next', () => {
  test('run the step that is due, and wait for the one that is not', () => {
    expect(decide([0, 5, 15], [], 0)).toEqual({ kind: 'run_step', stepIndex: 0 });
    expect(decide([0, 5, 15], [0], 4)).toEqual({ kind: 'wait_until', stepIndex: 1, at: TRIGGERED.add({ minutes: 5 }) });
    expect(decide([0, 5, 15], [0], 5)).toEqual({ kind: 'run_step', stepIndex: 1 });
    expect(decide([0, 5, 15], [0, 1, 2], 99)).toEqual({ kind: 'stop', because: 'no_more_steps' });
    expect(decide([], [], 0)).toEqual({ kind: 'stop', because: 'no_more_steps' });
  });

  test('equal times fire together, in the order of the policy', () => {
    expect(decide([5, 5], [], 5)).toEqual({ kind: 'run_step', stepIndex: 0 });
    expect(decide([5, 5], [0], 5)).toEqual({ kind: 'run_step', stepIndex: 1 });
  });

  test('a step that is listed later with an earlier time fires at its own time', () => {
    expect(decide([10, 0], [], 0)).toEqual({ kind: 'run_step', stepIndex: 1 });
    expect(decide([10, 0], [1], 3)).toEqual({ kind: 'wait_until', stepIndex: 0, at: TRIGGERED.add({ minutes: 10 }) });
  });

  test.each(['acknowledged', 'resolved'] as const)('an incident that is %s fires no step', (status) => {
    const decision = nextEscalation({ status, timers: timersOf([0, 5]) }, TRIGGERED.add({ minutes: 60 }));
    expect(decision).toEqual({ kind: 'stop', because: status });
  });

  test('a step that was brought forward fires at once', () => {
    const timers = timersOf([0, 5, 15], [0]);
    const brought = timers.map((timer) => (timer.stepIndex === 1 ? { ...timer, dueAt: TRIGGERED } : timer));
    expect(nextEscalation({ status: 'triggered', timers: brought }, TRIGGERED)).toEqual({
      kind: 'run_step',
      stepIndex: 1,
    });
  });

  const anyPolicy = fc.array(fc.oneof(fc.integer({ min: 0, max: 60 }), fc.constant(Number.MAX_SAFE_INTEGER)), {
    minLength: 1,
    maxLength: 8,
  });

  test('never runs a step before its time, whatever the policy', () => {
    fc.assert(
      fc.property(anyPolicy, fc.integer({ min: 0, max: 100 }), (minutes, elapsed) => {
        const fired: number[] = [];
        let decision = decide(minutes, fired, elapsed);
        while (decision.kind === 'run_step') {
          expect(minutes[decision.stepIndex]).toBeLessThanOrEqual(elapsed);
          fired.push(decision.stepIndex);
          decision = decide(minutes, fired, elapsed);
        }
        expect(new Set(fired)).toEqual(new Set([...minutes.keys()].filter((index) => minutes[index]! <= elapsed)));
        expect(new Set(fired).size).toBe(fired.length);
        expect(decision.kind).toBe(fired.length === minutes.length ? 'stop' : 'wait_until');
      }),
    );
  });

  test('waiting for what it says, and then asking again, fires every step once and in the order of time', () => {
    fc.assert(
      fc.property(anyPolicy, (minutes) => {
        const fired: number[] = [];
        let now: Temporal.Instant = TRIGGERED;
        for (;;) {
          const decision = nextEscalation({ status: 'triggered', timers: timersOf(minutes, fired) }, now);
          if (decision.kind === 'stop') break;
          if (decision.kind === 'run_step') fired.push(decision.stepIndex);
          const until = decision.kind === 'wait_until' ? decision.at : now;
          expect(isAtOrBefore(until, now)).toBe(decision.kind === 'run_step');
          now = until;
        }
        const inTime = [...minutes.keys()].sort((a, b) => minutes[a]! - minutes[b]! || a - b);
        expect(fired).toEqual(inTime);
      }),
    );
  });
});

describe('the step that fires at once when one reaches nobody', () => {
  test('is the next in time, and among equal times in the order of the policy', () => {
    const steps = stepsAfter(10, 0, 5, 5);
    expect([1, 2, 3, 0].map((index) => stepAfter(steps, index))).toEqual([2, 3, 0, null]);
    expect(stepAfter(steps, 9)).toBeNull();
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
