import { FAR_FUTURE, isAtOrBefore, Temporal } from '#kernel/time.ts';
import type { Id } from '#kernel/ids.ts';

import type { Channel } from '#modules/contacts/decide/channel.ts';
import type { Contact } from '#modules/contacts/decide/contact.ts';
import { type EscalationStep, planSteps, stepAfter } from './escalation.ts';
import { onCallOfSchedule, type OnCall, peopleOnCall } from '#modules/schedules/decide/on_call.ts';
import type { Override } from '#modules/schedules/decide/overrides.ts';
import { expeditesNextStep, decideRecipients, type StepRecipients } from './recipients.ts';
import type { IsPresent, Rotation } from '#modules/schedules/decide/rotation.ts';

type Instant = Temporal.Instant;

/** Facts that decide whom an escalation pages. */
export interface EscalationSetting {
  /** Steps of the policy, in its order. */
  readonly steps: readonly EscalationStep[];
  /** Schedules of the policy's team. */
  readonly schedules: readonly { readonly rotation: Rotation; readonly overrides: readonly Override[] }[];
  /** Contacts of everybody in the organization whom a step may page. */
  readonly contacts: ReadonlyMap<Id<'user'>, Contact>;
  readonly configured: ReadonlySet<Channel>;
  readonly isPresent: IsPresent;
}

/** Effect of a step while nobody answers. */
export interface SimulatedStep extends StepRecipients {
  readonly stepIndex: number;
  /** Due time by the policy alone. */
  readonly plannedAt: Instant;
  /** Time at which it fires; null: so far ahead that it never fires. Then nobody is paged by it. */
  readonly firesAt: Instant | null;
  /** The step that did not reach everybody, so that this one fires early; null when it fires at its own time. */
  readonly broughtForwardBy: number | null;
  /** People on call by each schedule when it fires, in the schedules' order; empty for a step that does not ask. */
  readonly onCall: readonly OnCall[];
}

/**
 * Returns the steps of an incident that opens at `triggeredAt` and that nobody answers, in the order in which they
 * fire: the decisions of the engine, each at the time when its step fires. Every message is assumed to arrive. Only
 * those that fire before `end`, if it is given.
 */
export function simulateEscalation(
  setting: EscalationSetting,
  triggeredAt: Instant,
  end: Instant | null = null,
): SimulatedStep[] {
  const { steps } = setting;
  const onCallAt = onCallFinder(setting);
  const pending = new Map(
    planSteps(steps, triggeredAt).map(({ stepIndex, dueAt }) => [
      stepIndex,
      { stepIndex, plannedAt: dueAt, dueAt, broughtForwardBy: null as number | null },
    ]),
  );
  const simulated: SimulatedStep[] = [];
  for (let timer = earliest(pending.values()); timer !== null; timer = earliest(pending.values())) {
    const { stepIndex, plannedAt, dueAt, broughtForwardBy } = timer;
    if (end !== null && isAtOrBefore(end, dueAt)) break;
    pending.delete(stepIndex);
    const step = steps[stepIndex];
    if (step === undefined) continue;
    if (isAtOrBefore(FAR_FUTURE, dueAt)) {
      const nothing = { pages: [], nobodyReached: null, unreachable: [], onCall: [] };
      simulated.push({ stepIndex, plannedAt, firesAt: null, broughtForwardBy, ...nothing });
      continue;
    }
    const onCall = step.useSchedule ? onCallAt(dueAt) : [];
    const recipients = decideRecipients(step, peopleOnCall(onCall), setting.contacts, setting.configured);
    simulated.push({ stepIndex, plannedAt, firesAt: dueAt, broughtForwardBy, onCall, ...recipients });
    const next = expeditesNextStep(recipients) ? stepAfter(steps, stepIndex) : null;
    const waiting = next === null ? undefined : pending.get(next);
    if (waiting !== undefined && !isAtOrBefore(waiting.dueAt, dueAt)) {
      pending.set(waiting.stepIndex, { ...waiting, dueAt, broughtForwardBy: stepIndex });
    }
  }
  return simulated;
}

function earliest<Timer extends { readonly dueAt: Instant; readonly stepIndex: number }>(
  timers: Iterable<Timer>,
): Timer | null {
  let first: Timer | null = null;
  for (const timer of timers) {
    const order = first === null ? -1 : Temporal.Instant.compare(timer.dueAt, first.dueAt);
    if (first === null || order < 0 || (order === 0 && timer.stepIndex < first.stepIndex)) first = timer;
  }
  return first;
}

/** Returns a function for who is on call by each schedule. Steps are minutes apart, so it reuses results. */
function onCallFinder({ schedules, isPresent }: EscalationSetting): (at: Instant) => OnCall[] {
  const found: (OnCall | undefined)[] = [];
  return (at) =>
    schedules.map(({ rotation, overrides }, index) => {
      const known = found[index];
      if (known !== undefined && holdsAt(known, at)) return known;
      const onCall = onCallOfSchedule(rotation, overrides, at, isPresent);
      found[index] = onCall;
      return onCall;
    });
}

function holdsAt({ shift }: OnCall, at: Instant): boolean {
  return shift !== null && isAtOrBefore(shift.since, at) && (shift.until === null || !isAtOrBefore(shift.until, at));
}
