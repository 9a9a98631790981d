import fc from '#test/kit/properties.ts';
import { expect, test } from 'vitest';

import { type StepTimerRow, toStepRecords } from '#modules/incidents/decide/escalation_state.ts';
import { type EscalationStep, planSteps } from '#modules/policies/decide/escalation.ts';
import { NOTIFICATION_STATUSES } from '#modules/policies/decide/recipients.ts';
import { FAR_FUTURE, isAtOrBefore } from '#kernel/time.ts';
import { at } from '#test/modules/schedules/decide/given_rotation.ts';

const TRIGGERED = at('2026-03-29T00:30:00Z');

const OPEN = { status: 'triggered', triggeredAt: TRIGGERED, suppressedUntil: null, parentId: null } as const;

const stepAfter = (afterMinutes: number): EscalationStep => ({
  afterMinutes,
  channels: ['sms'],
  targetUserIds: [],
  useSchedule: true,
});

const arbitraryTimer = fc.record({
  state: fc.constantFrom('pending', 'fired', 'skipped', 'cancelled'),
  /** Milliseconds by which it was brought forward. */
  earlier: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 600_000 })),
});

test('there is one record for each step of the snapshot, in its order, with the state of its own timer', () => {
  const minutes = fc.array(fc.tuple(fc.oneof(fc.nat(10_000), fc.constant(Number.MAX_SAFE_INTEGER)), arbitraryTimer));
  fc.assert(
    fc.property(minutes, (given) => {
      const steps = given.map(([afterMinutes]) => stepAfter(afterMinutes));
      const timers: StepTimerRow[] = planSteps(steps, TRIGGERED).map(({ stepIndex, dueAt }) => {
        const { state, earlier } = given[stepIndex]![1];
        const settledAt = state === 'pending' ? null : TRIGGERED;
        return { stepIndex, dueAt: dueAt.subtract({ milliseconds: earlier }), state, settledAt, reason: null };
      });
      const records = toStepRecords({ ...OPEN, steps }, timers.toReversed(), []);
      expect(records.map(({ index }) => index)).toEqual([...steps.keys()]);
      for (const record of records) {
        const [afterMinutes, { state, earlier }] = given[record.index]!;
        expect(record).toMatchObject({ ...stepAfter(afterMinutes), state, isBroughtForward: earlier > 0, people: [] });
        const { dueAt } = timers[record.index]!;
        expect(record.dueAt).toEqual(isAtOrBefore(FAR_FUTURE, dueAt) ? null : dueAt);
      }
    }),
  );
});

test('each person of a step is there once, with the best that became of any message', () => {
  const rank = ['delivered', 'sent', 'queued', 'failed', 'cancelled', 'skipped'];
  const page = fc.record({
    stepIndex: fc.constantFrom(0, 1),
    userId: fc.constantFrom('anna', 'bram', 'cleo'),
    status: fc.constantFrom(...NOTIFICATION_STATUSES),
  });
  fc.assert(
    fc.property(fc.array(page), (pages) => {
      const steps = [stepAfter(0), stepAfter(5)];
      const timers = planSteps(steps, TRIGGERED).map((timer) => {
        return { ...timer, state: 'fired' as const, settledAt: TRIGGERED, reason: null };
      });
      for (const { index, people } of toStepRecords({ ...OPEN, steps }, timers, pages)) {
        const ownPages = pages.filter(({ stepIndex }) => stepIndex === index);
        expect(people.map(({ userId }) => userId)).toEqual([...new Set(ownPages.map(({ userId }) => userId))]);
        for (const { userId, status } of people) {
          const reached = ownPages
            .filter((entry) => entry.userId === userId)
            .map((entry) => rank.indexOf(entry.status));
          expect(rank.indexOf(status)).toBe(Math.min(...reached));
        }
      }
    }),
  );
});
