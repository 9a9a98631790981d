import { describe, expect, test } from 'vitest';

import { CHANNELS } from '#modules/contacts/decide/channel.ts';
import type { EscalationStep } from '#modules/policies/decide/escalation.ts';
import type { PolicyHours } from '#modules/policies/decide/hours.ts';
import { findCycle, type PolicyPlan, RUN_STEPS_MAX, runOf } from '#modules/policies/decide/run.ts';
import { simulateEscalation } from '#modules/policies/decide/simulate_escalation.ts';
import { asId, type Id } from '#kernel/ids.ts';
import { fromEpochMilliseconds } from '#kernel/time.ts';
import { ODD_TIMES, ODD_ZONES, showsOpen } from '#test/modules/policies/decide/wall_clock.ts';
import fc, { slowRuns } from '#test/kit/properties.ts';

const POLICIES = ['a', 'b', 'c'].map((name) => asId('policy', name));
const TEAM = asId('team', 'team');
const SOMEBODY = asId('user', 'somebody');
const MINUTE = 60_000;
const HORIZON_MINUTES = 4 * 1_440;

const contact = {
  userId: SOMEBODY,
  phone: '+31612345678',
  email: 'somebody@example.com',
  hasPush: true,
  smsEnabled: true,
  callEnabled: true,
  pushEnabled: true,
  emailEnabled: true,
};

/** A step that reaches somebody, reaches nobody, or goes to a policy. */
const anyStep = fc
  .tuple(fc.integer({ min: 0, max: 60 }), fc.constantFrom('reaches', 'reaches', 'nobody', ...POLICIES))
  .map(([afterMinutes, kind]): EscalationStep => {
    const base = { afterMinutes, channels: ['sms'], targetUserIds: [], useSchedule: false } as const;
    if (kind === 'reaches') return { ...base, targetUserIds: [SOMEBODY] };
    return kind === 'nobody' ? base : { ...base, policyId: asId('policy', kind) };
  });

const anyHours = fc.record({
  timezone: fc.constantFrom(...ODD_ZONES),
  windows: fc.array(
    fc.record({
      days: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 4, maxLength: 7 }),
      from: fc.constantFrom('00:00', '01:30', '08:00', '22:00', '02:15'),
      to: fc.constantFrom('02:45', '12:00', '17:30', '24:00', '06:00'),
    }),
    { minLength: 1, maxLength: 2 },
  ),
  outside: fc.constantFrom('hold' as const, ...POLICIES.map((policyId) => ({ policyId }))),
  exemptFrom: fc.constantFrom(null, 'error', 'fatal'),
});

const anyPolicies = fc
  .tuple(
    ...POLICIES.map(() =>
      fc.record({
        steps: fc.array(anyStep, { minLength: 1, maxLength: 3 }),
        hours: fc.option(anyHours, { nil: undefined }),
        repeat: fc.option(
          fc.record({ times: fc.integer({ min: 1, max: 3 }), pauseMinutes: fc.integer({ min: 1, max: 90 }) }),
          { nil: undefined },
        ),
      }),
    ),
  )
  .map((made) =>
    made.map(({ steps, hours, repeat }, index): PolicyPlan => {
      const details = { ...(hours && { hours }), ...(repeat && { repeat }) };
      return {
        id: POLICIES[index]!,
        name: String(POLICIES[index]),
        teamId: TEAM,
        steps,
        details: hours === undefined && repeat === undefined ? null : details,
      };
    }),
  );

/** A step of a round as the walk sees it: minutes that pass always, and then minutes that pass within hours alone. */
interface Waiting {
  readonly order: number;
  readonly place: number;
  always: number;
  within: number;
  readonly hours: PolicyHours | null;
  readonly reaches: boolean;
}

const isExempt = (hours: PolicyHours) => hours.exemptFrom === 'error';

/** Plays the specification minute by minute, with nothing that the product decides by: the minutes at which steps fire. */
function walk(policies: readonly PolicyPlan[], startMs: number): number[] {
  const byId = (id: Id<'policy'>) => policies.find((policy) => policy.id === id)!;
  const running = (id: Id<'policy'>, ms: number): PolicyPlan => {
    const passed: string[] = [];
    for (let policy = byId(id); ;) {
      passed.push(policy.id);
      const hours = policy.details?.hours;
      if (hours === undefined || hours.outside === 'hold' || isExempt(hours) || showsOpen(hours, ms)) return policy;
      if (passed.includes(hours.outside.policyId)) return policy;
      policy = byId(hours.outside.policyId);
    }
  };
  const expand = (policy: PolicyPlan, offset: number, path: readonly string[], held: [PolicyHours, number] | null) => {
    const own = policy.details?.hours;
    const holds = own !== undefined && own.outside === 'hold' && !isExempt(own);
    const hold: [PolicyHours, number] | null = holds ? [own, offset] : held;
    const found: Omit<Waiting, 'place'>[] = [];
    for (const step of policy.steps) {
      const after = offset + step.afterMinutes;
      if (step.policyId !== undefined && !path.includes(step.policyId)) {
        const other = running(step.policyId, startMs + after * MINUTE);
        if (!path.includes(other.id)) {
          found.push(...expand(other, after, [...path, other.id], hold));
          continue;
        }
      }
      const [hours, since] = hold ?? [null, after];
      const reaches = step.targetUserIds.length > 0;
      found.push({ order: after, always: since, within: after - since, hours, reaches });
    }
    return found;
  };
  const policy = running(POLICIES[0]!, startMs);
  const round = expand(policy, 0, [POLICIES[0]!, policy.id], null).map((step, place) => ({ ...step, place }));
  const fired: number[] = [];
  let left = policy.details?.repeat?.times ?? 0;
  let begins = 0;
  let waiting: Waiting[] = round.map((step) => ({ ...step }));
  for (let minute = 0; minute < HORIZON_MINUTES; minute += 1) {
    if (minute < begins) continue;
    const isDue = (step: Waiting) =>
      step.always === 0 &&
      step.within === 0 &&
      (step.hours === null || showsOpen(step.hours, startMs + minute * MINUTE));
    for (;;) {
      const next = waiting.filter(isDue).toSorted((a, b) => a.place - b.place)[0];
      if (next === undefined) break;
      waiting = waiting.filter((step) => step !== next);
      fired.push(minute);
      const [following] = round
        .filter(({ order, place }) => order > next.order || (order === next.order && place > next.place))
        .toSorted((a, b) => a.order - b.order || a.place - b.place);
      const hurried = next.reaches ? undefined : waiting.find(({ place }) => place === following?.place);
      if (hurried !== undefined) Object.assign(hurried, { always: 0, within: 0 });
    }
    if (waiting.length === 0) {
      if (left === 0) break;
      left -= 1;
      begins = minute + (policy.details?.repeat?.pauseMinutes ?? 0);
      waiting = round.map((step) => ({ ...step }));
      continue;
    }
    for (const step of waiting) {
      if (step.always > 0) step.always -= 1;
      else if (step.within > 0 && (step.hours === null || showsOpen(step.hours, startMs + minute * MINUTE))) {
        step.within -= 1;
      }
    }
  }
  return fired;
}

describe('what an incident runs', () => {
  test('fires when a minute-by-minute walk says so', () => {
    const anyStart = fc
      .tuple(fc.constantFrom(...ODD_TIMES), fc.integer({ min: -800, max: 800 }))
      .map(([ms, minutes]) => ms + minutes * MINUTE);
    fc.assert(
      fc.property(anyPolicies, anyStart, (policies, startMs) => {
        const find = (id: Id<'policy'>) => policies.find((policy) => policy.id === id);
        const run = runOf(policies[0]!, find, fromEpochMilliseconds(startMs), 'error');
        const simulated = simulateEscalation(
          {
            steps: [],
            runAt: () => run,
            schedules: [],
            contacts: new Map([[SOMEBODY, contact]]),
            configured: new Set(CHANNELS),
            isPresent: () => true,
          },
          fromEpochMilliseconds(startMs),
        );
        const minutes = simulated.map(({ firesAt }) => (firesAt!.epochMilliseconds - startMs) / MINUTE);
        expect(minutes.filter((minute) => minute < HORIZON_MINUTES)).toEqual(walk(policies, startMs));
      }),
      { numRuns: slowRuns(10_000, 60) },
    );
  });

  test('never leads anywhere twice, and is bounded, whatever the policies name', () => {
    fc.assert(
      fc.property(anyPolicies, (policies) => {
        const wide = policies.map((policy) => ({
          ...policy,
          steps: Array.from({ length: 34 }, () => policy.steps).flat(),
        }));
        const find = (id: Id<'policy'>) => wide.find((policy) => policy.id === id);
        const run = runOf(wide[0]!, find, fromEpochMilliseconds(ODD_TIMES[0]!), 'error');
        expect(run.steps.length).toBeLessThanOrEqual(RUN_STEPS_MAX);
        expect(run.steps.every(({ policyId }) => policyId === undefined)).toBe(true);
        const cycle = findCycle(wide[0]!, find);
        expect(cycle === null ? [] : [cycle[0], cycle.at(-1)]).toEqual(
          cycle === null ? [] : [POLICIES[0], POLICIES[0]],
        );
      }),
    );
  });
});
