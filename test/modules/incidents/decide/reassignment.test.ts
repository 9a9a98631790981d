import fc, { slowRuns } from '#test/kit/properties.ts';
import { describe, expect, test } from 'vitest';

import {
  followedBy,
  INCIDENT_STEPS_MAX,
  planReassignment,
  type EscalationAtReassignment,
} from '#modules/incidents/decide/reassignment.ts';
import { toStepRecords } from '#modules/incidents/decide/escalation_state.ts';
import { type EscalationStep, planSteps, stepAfter, stepAt, stepCountOf } from '#modules/policies/decide/escalation.ts';
import { ANNA, at, BRAM } from '#test/modules/schedules/decide/given_rotation.ts';

const TRIGGERED = at('2026-03-29T00:30:00Z');

const stepOf = (afterMinutes: number): EscalationStep => ({
  afterMinutes,
  channels: ['sms'],
  targetUserIds: [BRAM],
  useSchedule: false,
});

/** Some minutes after the trigger: what was due has fired, the rest waits, or was cancelled by an acknowledgement. */
function standingAfter(
  minutes: readonly number[],
  elapsed: number,
  acknowledged: number | null,
): EscalationAtReassignment {
  const now = TRIGGERED.add({ minutes: acknowledged ?? elapsed });
  const steps = minutes.map(stepOf);
  const timers = planSteps(steps, TRIGGERED).map(({ stepIndex, dueAt }) => {
    const isFired = dueAt.epochMilliseconds < now.epochMilliseconds;
    const state = isFired ? 'fired' : acknowledged === null ? 'pending' : 'cancelled';
    return { stepIndex, dueAt, state, settledAt: null, reason: state === 'cancelled' ? 'acknowledged' : null } as const;
  });
  return { steps, timers, acknowledgedAt: acknowledged === null ? null : now };
}

const policy = fc.array(fc.nat(600), { minLength: 1, maxLength: 8 });
const anna = { kind: 'person', userId: ANNA, channels: ['push', 'sms'] } as const;

describe('reassigning to a person', () => {
  test('pages them now, and no step that was left comes later than it would have', () => {
    fc.assert(
      fc.property(policy, fc.nat(600), (minutes, elapsed) => {
        const now = TRIGGERED.add({ minutes: elapsed, seconds: 17 });
        const standing = standingAfter(minutes, elapsed, null);
        const { steps, timers } = planReassignment(standing, anna, now);
        expect(steps[0]).toMatchObject({ targetUserIds: [ANNA], channels: ['push', 'sms'] });
        expect(timers[0]).toEqual({ stepIndex: minutes.length, dueAt: now });
        const left = standing.timers.filter(({ state }) => state === 'pending').map(({ dueAt }) => dueAt.toString());
        expect(timers.slice(1).map(({ dueAt }) => dueAt.toString())).toEqual(left.toSorted());
      }),
    );
  });

  test('after an acknowledgement leaves them alone for five minutes, then goes on from where it stopped', () => {
    fc.assert(
      fc.property(policy, fc.nat(300), fc.nat(300), (minutes, acknowledged, waited) => {
        const now = TRIGGERED.add({ minutes: acknowledged + waited });
        const standing = standingAfter(minutes, 0, acknowledged);
        const stopped = standing.timers.filter(({ state }) => state === 'cancelled');
        const { timers } = planReassignment(standing, anna, now);
        expect(timers).toHaveLength(stopped.length + 1);
        for (const { dueAt } of timers.slice(1)) {
          expect(dueAt.epochMilliseconds - now.epochMilliseconds).toBeGreaterThanOrEqual(5 * 60_000);
        }
      }),
    );
  });

  test('somebody whom no channel reaches is followed by the next step at once', () => {
    const standing = standingAfter([0, 10, 30], 4, null);
    const plan = planReassignment(standing, anna, TRIGGERED.add({ minutes: 4 }));
    const steps = [...standing.steps, ...plan.steps];
    expect([3, 4, 5].map((index) => stepAfter(steps, index))).toEqual([4, 5, null]);
    expect(stepAfter(steps, 0), 'an earlier step brings forward none of these').toBe(1);
  });
});

describe('reassigning to a policy', () => {
  test('begins its steps now, each at its own time, and none of them counts as early', () => {
    fc.assert(
      fc.property(policy, policy, fc.nat(600), (minutes, other, elapsed) => {
        const now = TRIGGERED.add({ minutes: elapsed, milliseconds: 250 });
        const standing = standingAfter(minutes, elapsed, null);
        const plan = planReassignment(standing, { kind: 'policy', steps: other.map(stepOf) }, now);
        expect(plan.timers).toEqual(
          other.map((after, index) => ({ stepIndex: minutes.length + index, dueAt: now.add({ minutes: after }) })),
        );
        const timers = [
          ...standing.timers,
          ...plan.timers.map((timer) => ({ ...timer, state: 'pending' as const, settledAt: null, reason: null })),
        ];
        const records = toStepRecords(
          {
            status: 'triggered',
            steps: [...standing.steps, ...plan.steps],
            triggeredAt: TRIGGERED,
            suppressedUntil: null,
            parentId: null,
          },
          timers,
          [],
        );
        expect(records).toHaveLength(minutes.length + other.length);
        expect(records.some(({ isBroughtForward }) => isBroughtForward)).toBe(false);
      }),
    );
  });
});

test('however often an incident changes hands, a step that it keeps has the number and the time that it always had', () => {
  const round = fc.array(fc.nat(600), { minLength: 1, maxLength: 100 });
  fc.assert(
    fc.property(fc.array(round, { minLength: 1, maxLength: 12 }), ([first = [], ...rounds]) => {
      let steps: readonly EscalationStep[] = first.map(stepOf);
      const all = [...steps];
      const dues = planSteps(steps, TRIGGERED);
      for (const [index, minutes] of rounds.entries()) {
        const now = TRIGGERED.add({ hours: index + 1 });
        const standing = { steps, timers: [], acknowledgedAt: now };
        // What pages again are steps that the incident has, which may be the first that it keeps.
        const again = index % 2 === 0 ? minutes.map(stepOf) : steps.slice(-minutes.length);
        const plan = planReassignment(standing, { kind: 'policy', steps: again }, now);
        steps = followedBy(steps, plan.steps);
        all.push(...plan.steps);
        dues.push(...plan.timers);
        expect(stepCountOf(steps)).toBe(all.length);
        expect(steps.length).toBeLessThanOrEqual(INCIDENT_STEPS_MAX);
        expect(planSteps(steps, TRIGGERED)).toEqual(dues.slice(-steps.length));
        for (const [stepIndex, step] of all.entries()) {
          const isKept = stepIndex >= all.length - steps.length;
          const { index: _, ...kept } = stepAt(steps, stepIndex) ?? {};
          expect(kept).toEqual(isKept ? step : {});
          const isNew = stepIndex >= all.length - plan.steps.length;
          expect(isKept || !isNew).toBe(true);
        }
        const first = all.length - plan.steps.length;
        const next = stepAfter(plan.steps, 0);
        expect(stepAfter(steps, first)).toBe(next === null ? null : first + next);
      }
    }),
    { numRuns: slowRuns(300) },
  );
});
