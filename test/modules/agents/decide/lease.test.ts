import { describe, expect, test } from 'vitest';

import { isAtOrBefore, type Temporal } from '#kernel/time.ts';
import {
  decideHold,
  decideRenew,
  decideTake,
  HOLD_MINUTES_MAX,
  type Lease,
  type LeaseDecision,
  leaseStateOf,
} from '#modules/agents/decide/lease.ts';
import { decideEscalate, type StepTimerRow } from '#modules/incidents/decide/escalation_state.ts';
import type { IncidentStatus } from '#modules/incidents/decide/incident.ts';
import { planSteps } from '#modules/policies/decide/escalation.ts';
import fc from '#test/kit/properties.ts';
import { at } from '#test/modules/schedules/decide/given_rotation.ts';

const START = at('2026-03-29T00:30:00Z');
const AGENTS = ['night', 'day'] as const;

const events = fc.array(
  fc.record({
    /** Seconds after the event before it. */
    after: fc.integer({ min: 0, max: 400 }),
    what: fc.constantFrom('take', 'renew', 'release', 'stop', 'limit', 'escalate'),
    agent: fc.constantFrom(...AGENTS),
    minutes: fc.integer({ min: 1, max: 15 }),
    limit: fc.integer({ min: 0, max: 30 }),
  }),
  { maxLength: 25 },
);

type Event = typeof events extends fc.Arbitrary<readonly (infer E)[]> ? E : never;

const policy = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 5 });

/**
 * Returns when each step fires in seconds after the trigger, given the actions of agents and people; a step fires as
 * soon as it is due.
 */
function firedAt(
  minutes: readonly number[],
  given: readonly Event[],
  holdMinutes: number,
  agentsAct: boolean,
): number[] {
  const planned = planSteps(
    minutes.map((afterMinutes) => ({ afterMinutes })),
    START,
  );
  let hold = holdMinutes;
  let lease = null as Lease | null;
  let timers: StepTimerRow[] = planned.map((step) => ({ ...step, state: 'pending', settledAt: null, reason: null }));
  const fired = new Map<number, number>();
  let now = START;
  const runUntil = (until: Temporal.Instant) => {
    timers = timers.map((timer) => {
      if (timer.state !== 'pending' || !isAtOrBefore(timer.dueAt, until)) return timer;
      const when = isAtOrBefore(timer.dueAt, now) ? now : timer.dueAt;
      fired.set(timer.stepIndex, (when.epochMilliseconds - START.epochMilliseconds) / 1000);
      return { ...timer, state: 'fired', settledAt: when };
    });
    now = until;
  };
  const apply = (leaseUntil: Temporal.Instant | null) => {
    const moved = decideHold({ status: 'triggered', planned, timers, holdMinutes: hold, leaseUntil }, now);
    timers = timers.map((timer) => (timer.stepIndex === moved?.stepIndex ? { ...timer, dueAt: moved.dueAt } : timer));
  };
  for (const { after, what, agent, minutes: asked, limit } of given) {
    runUntil(now.add({ seconds: after }));
    if (what === 'escalate') {
      const pending = timers.find(({ state }) => state === 'pending');
      if (pending && decideEscalate('triggered', timers, pending.stepIndex, now).kind === 'fire_now') {
        timers = timers.map((timer) => (timer === pending ? { ...timer, dueAt: now, reason: 'escalated' } : timer));
      }
      continue;
    }
    if (!agentsAct) continue;
    const state = { status: 'triggered' as const, lease, agentId: agent, minutes: asked, othersHeld: 0 };
    if (what === 'take' || what === 'renew') {
      const decided: LeaseDecision = what === 'take' ? decideTake(state, now) : decideRenew(state, now);
      if (decided.kind !== 'grant') continue;
      lease = { agentId: agent, expiresAt: decided.expiresAt, releasedAt: null };
      apply(lease.expiresAt);
    } else if (what === 'limit') {
      // More than an organization can store, too.
      hold = Math.min(limit, holdMinutes);
      if (lease !== null && leaseStateOf(lease, now) === 'held') apply(lease.expiresAt);
    } else if (lease !== null && leaseStateOf(lease, now) === 'held' && (what === 'stop' || lease.agentId === agent)) {
      lease = { ...lease, releasedAt: now };
      apply(null);
    }
  }
  runUntil(START.add({ hours: 3 }));
  return minutes.map((_, index) => fired.get(index) ?? Number.POSITIVE_INFINITY);
}

test('without a hold no step fires at another time than without agents, whatever they do', () => {
  fc.assert(
    fc.property(policy, events, (minutes, given) => {
      expect(firedAt(minutes, given, 0, true)).toEqual(firedAt(minutes, given, 0, false));
    }),
  );
});

test('with a hold of n minutes the first step fires at most n minutes later, at most ten, and no other step later at all', () => {
  fc.assert(
    fc.property(policy, events, fc.integer({ min: 0, max: 30 }), (minutes, given, hold) => {
      // A person who asks for a step would ask for another one when the first has waited; the other tests have those.
      const agentsOnly = given.filter(({ what }) => what !== 'escalate');
      const alone = firedAt(minutes, agentsOnly, 0, false);
      const first = minutes.indexOf(Math.min(...minutes));
      const most = Math.min(hold, HOLD_MINUTES_MAX) * 60;
      firedAt(minutes, agentsOnly, hold, true).forEach((when, index) => {
        expect(when).toBeGreaterThanOrEqual(alone[index]!);
        expect(when).toBeLessThanOrEqual(alone[index]! + (index === first ? most : 0));
      });
    }),
  );
});

test('a step that a person asks for fires at once, also while a lease holds it', () => {
  const taken: Event[] = [
    { after: 10, what: 'take', agent: 'night', minutes: 15, limit: 0 },
    { after: 100, what: 'escalate', agent: 'night', minutes: 1, limit: 0 },
    { after: 1, what: 'renew', agent: 'night', minutes: 15, limit: 0 },
  ];
  expect(firedAt([1, 5], taken, 10, true)).toEqual([110, 300]);
});

test('a first step that a person asked for is not moved, even if that was at its planned time', () => {
  const planned = planSteps([{ afterMinutes: 5 }, { afterMinutes: 10 }], START);
  const leaseUntil = START.add({ minutes: 9 });
  const holdOf = (reason: string | null) => {
    const timers = planned.map((step): StepTimerRow => ({ ...step, state: 'pending', settledAt: null, reason }));
    return decideHold({ status: 'triggered', planned, timers, holdMinutes: 10, leaseUntil }, START);
  };
  expect(holdOf(null)).toEqual({ stepIndex: 0, dueAt: leaseUntil });
  expect(holdOf('escalated')).toBeNull();
});

describe('a lease moves no step', () => {
  const planned = planSteps([{ afterMinutes: 5 }, { afterMinutes: 10 }], START);
  const holdOf = (
    now: Temporal.Instant,
    [first, second]: readonly Partial<StepTimerRow>[],
    status: IncidentStatus = 'triggered',
  ) => {
    const timers = planned.map((step, index): StepTimerRow => {
      return { ...step, state: 'pending', settledAt: null, reason: null, ...(index === 0 ? first : second) };
    });
    return decideHold({ status, planned, timers, holdMinutes: 10, leaseUntil: START.add({ minutes: 9 }) }, now);
  };
  const due = (minutes: number) => ({ dueAt: START.add({ minutes }) });

  test('but the first one of an incident that nobody has answered', () => {
    expect(holdOf(START, [])).toEqual({ stepIndex: 0, ...due(9) });
  });

  test.each<[string, number, readonly Partial<StepTimerRow>[], IncidentStatus?]>([
    ['of an incident that somebody has acknowledged', 0, [], 'acknowledged'],
    ['of an incident that is resolved', 0, [], 'resolved'],
    ['once another one has fired', 0, [{}, { state: 'fired' }]],
    ['that is due', 5, []],
    ['that is overdue', 6, []],
    ['that was brought forward', 0, [due(4)]],
    ['that was put off for longer than any lease holds it', 0, [due(16)]],
  ])('%s', (_what, minutes, timers, status) => {
    expect(holdOf(START.add({ minutes }), timers, status)).toBeNull();
  });
});

test('an agent that dies holds the first step no longer than its lease', () => {
  expect(firedAt([1], [{ after: 30, what: 'take', agent: 'night', minutes: 3, limit: 0 }], 10, true)).toEqual([210]);
});

test('a lease is one agent’s until it is released or lost, and a lost one is not renewed', () => {
  const asked = { status: 'acknowledged', agentId: 'day', minutes: 5, othersHeld: 0 } as const;
  const held: Lease = { agentId: 'night', expiresAt: START.add({ minutes: 5 }), releasedAt: null };
  const later = START.add({ minutes: 5 });
  expect(decideTake({ ...asked, lease: held }, START)).toMatchObject({ because: 'held_by_another' });
  expect(decideTake({ ...asked, lease: held }, later)).toMatchObject({ kind: 'grant' });
  expect(decideTake({ ...asked, lease: { ...held, releasedAt: START } }, START)).toMatchObject({ kind: 'grant' });
  expect(decideTake({ ...asked, lease: null, othersHeld: 10 }, START)).toMatchObject({ because: 'too_many' });
  expect(decideTake({ ...asked, status: 'resolved', lease: null }, START)).toMatchObject({ because: 'resolved' });
  expect(decideRenew({ ...asked, agentId: 'night', lease: held }, START)).toMatchObject({ kind: 'grant' });
  expect(decideRenew({ ...asked, agentId: 'night', lease: held }, later)).toMatchObject({ because: 'not_held' });
});
