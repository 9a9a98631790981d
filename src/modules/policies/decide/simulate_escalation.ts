import type { Steps } from '#kernel/cooperative_task.ts';
import type { Id } from '#kernel/ids.ts';
import { addMinutesSaturating, FAR_FUTURE, fromEpochMilliseconds, isAtOrBefore, Temporal } from '#kernel/time.ts';
import { type Channel, declarationOf } from '#modules/contacts/decide/channel.ts';
import type { Contact } from '#modules/contacts/decide/contact.ts';
import type { IsPresent } from '#modules/schedules/decide/layer.ts';
import {
  type LayeredSchedule,
  nightFinder,
  type OnCall,
  onCallOfSchedule,
} from '#modules/schedules/decide/layered_shifts.ts';
import { audienceOf, inTurn, type LastTurn, schedulesOf } from './audience.ts';
import { type EscalationStep, planSteps, stepAfter } from './escalation.ts';
import { nextWithin } from './hours.ts';
import { chooseInTurn, decideRecipients, expeditesNextStep, type StepRecipients } from './recipients.ts';
import type { Run } from './run.ts';

type Instant = Temporal.Instant;

export interface TeamSetting {
  readonly schedules: readonly { readonly id?: Id<'schedule'>; readonly layered: LayeredSchedule }[];
  /** Contacts of everybody in the organization whom a step may page, as the team knows them. */
  readonly contacts: ReadonlyMap<Id<'user'>, Contact>;
  /** Members in their order; absent when no step pages a team. */
  readonly memberIds?: readonly Id<'user'>[];
}

/** Facts that decide whom an escalation pages, with those of the policy's team. */
export interface EscalationSetting extends TeamSetting {
  readonly steps: readonly EscalationStep[];
  /** Returns the run of an incident that opens then; absent when that is always the steps, once. */
  readonly runAt?: (at: Instant) => Run;
  /** Further teams that steps name, or that they are of. */
  readonly teams?: ReadonlyMap<string, TeamSetting>;
  /** Last turn of the round robin of each policy. */
  readonly lastTurns?: ReadonlyMap<string, LastTurn>;
  readonly configured: ReadonlySet<Channel>;
  readonly isPresent: IsPresent;
}

/** Effect of a step while nobody answers. */
export interface SimulatedStep extends StepRecipients {
  /** Index among all steps that fire, those of repetitions after the others. */
  readonly stepIndex: number;
  readonly step: EscalationStep;
  /** Team of the policy that runs; undefined for that of the setting. */
  readonly teamId?: Id<'team'> | undefined;
  /** Number of the repetition that it is of; 0 for the first round. */
  readonly round: number;
  /** Due time by the policy alone. */
  readonly plannedAt: Instant;
  /** Time at which it fires; null: so far ahead that it never fires. Then nobody is paged by it. */
  readonly firesAt: Instant | null;
  /** The step that did not reach everybody, so that this one fires early; null when it fires at its own time. */
  readonly broughtForwardBy: number | null;
  /** People on call when it fires by each schedule that it asks, in the schedules' order; empty for one that does not. */
  readonly onCall: readonly { readonly scheduleIndex: number; readonly onCall: OnCall }[];
}

/**
 * Returns the steps of an incident that opens at `triggeredAt` and that nobody answers, in the order in which they
 * fire: the decisions of the engine, each at the time when its step fires. Every message is assumed to arrive. Only
 * those that fire before `end`, if it is given. The turns of a round robin are taken from `turns`, and noted there.
 */
export function simulateEscalation(
  setting: EscalationSetting,
  triggeredAt: Instant,
  end: Instant | null = null,
  turns = new Map<string, LastTurn>(setting.lastTurns),
): SimulatedStep[] {
  const run: Partial<Run> & Pick<Run, 'steps'> = setting.runAt?.(triggeredAt) ?? setting;
  const find = audienceFinder(setting, run, turns);
  const simulated: SimulatedStep[] = [];
  let from = triggeredAt;
  for (let round = 0; round <= (run.repeat?.times ?? 0); round += 1) {
    const steps = simulateRound(run, find, from, end);
    const first = round * run.steps.length;
    const shift = (index: number | null) => (index === null ? null : first + index);
    for (const step of steps) {
      const { stepIndex, broughtForwardBy } = step;
      simulated.push({
        ...step,
        teamId: run.teamId,
        round,
        stepIndex: first + stepIndex,
        broughtForwardBy: shift(broughtForwardBy),
      });
    }
    const last = steps.at(-1)?.firesAt ?? null;
    if (steps.length < run.steps.length || last === null) break;
    from = addMinutesSaturating(last, run.repeat?.pauseMinutes ?? 0);
  }
  return simulated;
}

type AudienceFinder = (step: EscalationStep, at: Instant) => Pick<SimulatedStep, 'onCall'> & StepRecipients;

function simulateRound(
  { steps }: Pick<Run, 'steps'>,
  find: AudienceFinder,
  from: Instant,
  end: Instant | null,
): Omit<SimulatedStep, 'round'>[] {
  const pending = new Map(
    planSteps(steps, from).map(({ stepIndex, dueAt }) => [
      stepIndex,
      { stepIndex, plannedAt: dueAt, dueAt, hours: steps[stepIndex]?.hours, broughtForwardBy: null as number | null },
    ]),
  );
  const simulated: Omit<SimulatedStep, 'round'>[] = [];
  for (let timer = earliest(pending.values()); timer !== null; timer = earliest(pending.values())) {
    const { stepIndex, plannedAt, dueAt, broughtForwardBy } = timer;
    if (end !== null && isAtOrBefore(end, dueAt)) break;
    pending.delete(stepIndex);
    const step = steps[stepIndex];
    if (step === undefined) continue;
    if (isAtOrBefore(FAR_FUTURE, dueAt)) {
      const nothing = { pages: [], nobodyReached: null, unreachable: [], onCall: [] };
      simulated.push({ stepIndex, step, plannedAt, firesAt: null, broughtForwardBy, ...nothing });
      continue;
    }
    const recipients = find(step, dueAt);
    simulated.push({ stepIndex, step, plannedAt, firesAt: dueAt, broughtForwardBy, ...recipients });
    const next = expeditesNextStep(recipients) ? stepAfter(steps, stepIndex) : null;
    const waiting = next === null ? undefined : pending.get(next);
    if (waiting !== undefined) {
      // A step that is brought forward into a time outside its hours still waits for them.
      const at = waiting.hours === undefined ? dueAt : nextWithin(waiting.hours, dueAt);
      if (!isAtOrBefore(waiting.dueAt, at)) {
        pending.set(waiting.stepIndex, { ...waiting, dueAt: at, broughtForwardBy: stepIndex });
      }
    }
  }
  return simulated;
}

/** Returns a function for whom a step pages at an instant; it takes turns as steps fire. */
function audienceFinder(setting: EscalationSetting, run: Partial<Run>, turns: Map<string, LastTurn>): AudienceFinder {
  const { configured, isPresent, teams } = setting;
  const base = (run.teamId && teams?.get(run.teamId)) ?? setting;
  const finders = new Map<TeamSetting, (at: Instant) => OnCall[]>();
  const onCallOf = (team: TeamSetting, at: Instant): OnCall[] => {
    const finder = finders.get(team) ?? onCallFinder({ ...team, isPresent });
    finders.set(team, finder);
    return finder(at);
  };
  return (step, at) => {
    const team = (step.origin && teams?.get(step.origin.teamId)) ?? base;
    const then = step.useSchedule
      ? onCallOf(team, at).map((onCall, scheduleIndex) => {
          const id = team.schedules[scheduleIndex]?.id;
          return { scheduleIndex, onCall, ...(id !== undefined && { id }) };
        })
      : [];
    const members = step.members && teams?.get(step.members.teamId);
    const memberIds = members?.memberIds ?? [];
    const contacts = members === undefined ? team.contacts : contactsIn(team, members);
    const paged = step.members?.inTurn ? takeTurn(step, contacts, memberIds) : memberIds;
    const audience = audienceOf(step, { schedules: then, memberIds: paged });
    return { onCall: [...schedulesOf(step, then)], ...decideRecipients(step, audience, contacts, configured) };
  };

  function takeTurn(step: EscalationStep, contacts: Contacts, memberIds: readonly Id<'user'>[]): Id<'user'>[] {
    const key = step.origin?.policyId ?? run.policyId ?? '';
    const userId = chooseInTurn(inTurn(memberIds, turns.get(key) ?? null), step, contacts, configured);
    if (userId === null) return [];
    turns.set(key, { userId, position: memberIds.indexOf(userId) });
    return [userId];
  }
}

type Contacts = TeamSetting['contacts'];

/** Returns contacts as the policy's team knows them; for members of the paged team only, as that team does. */
function contactsIn(team: TeamSetting, paged: TeamSetting): Contacts {
  const teamIds = new Set(team.memberIds);
  const others = (paged.memberIds ?? []).flatMap((userId) => {
    const contact = teamIds.has(userId) ? undefined : paged.contacts.get(userId);
    return contact === undefined ? [] : [[userId, contact] as const];
  });
  return new Map([...team.contacts, ...others]);
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
function onCallFinder({
  schedules,
  isPresent,
}: Pick<EscalationSetting, 'schedules' | 'isPresent'>): (at: Instant) => OnCall[] {
  const onCalls: (OnCall | undefined)[] = [];
  return (at) =>
    schedules.map(({ layered }, index) => {
      const cached = onCalls[index];
      if (cached !== undefined && holdsAt(cached, at)) return cached;
      const onCall = onCallOfSchedule(layered, at, isPresent);
      onCalls[index] = onCall;
      return onCall;
    });
}

function holdsAt({ shift }: OnCall, at: Instant): boolean {
  return shift !== null && isAtOrBefore(shift.since, at) && (shift.until === null || !isAtOrBefore(shift.until, at));
}

/** The life of an incident, in epoch milliseconds; `closedAt` is null for one that is open still. */
interface IncidentLife {
  readonly openedAt: number;
  readonly closedAt: number | null;
}

interface PersonCost {
  readonly userId: Id<'user'>;
  readonly pages: number;
  /** Nights, from 23:00 to 07:00 in their zone, in which something woke them. */
  readonly nights: number;
}

export interface EscalationCost {
  readonly pages: number;
  readonly nights: number;
  /** People, those with the most pages first. */
  readonly people: readonly PersonCost[];
}

/**
 * Computes whom these incidents would have paged while they were open and nobody answered: the decisions of the engine,
 * with the policy and the contacts of today, and the people who were on call then. Works in steps, one for each
 * incident.
 */
export function* escalationCost(
  setting: EscalationSetting,
  incidents: readonly IncidentLife[],
  zoneOf: (userId: Id<'user'>) => string,
  nowMs: number,
): Steps<EscalationCost> {
  const nightOf = nightFinder();
  const turns = new Map(setting.lastTurns);
  const costs = new Map<Id<'user'>, { pages: number; nights: Set<string> }>();
  for (const { openedAt, closedAt } of incidents) {
    const end = fromEpochMilliseconds(closedAt ?? nowMs);
    for (const { firesAt, pages } of simulateEscalation(setting, fromEpochMilliseconds(openedAt), end, turns)) {
      if (firesAt === null) continue;
      for (const { kind, userId, channel } of pages) {
        if (kind !== 'notify') continue;
        const cost = costs.get(userId) ?? { pages: 0, nights: new Set<string>() };
        costs.set(userId, cost);
        cost.pages += 1;
        const night = declarationOf(channel).wakes ? nightOf(firesAt.epochMilliseconds, zoneOf(userId)) : null;
        if (night !== null) cost.nights.add(night);
      }
    }
    yield;
  }
  const people = [...costs].map(([userId, { pages, nights }]) => ({ userId, pages, nights: nights.size }));
  return {
    pages: people.reduce((sum, { pages }) => sum + pages, 0),
    nights: people.reduce((sum, { nights }) => sum + nights, 0),
    people: people.toSorted((a, b) => b.pages - a.pages),
  };
}
