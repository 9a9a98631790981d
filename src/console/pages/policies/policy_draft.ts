import type { InputOf } from '#console/api/actions.ts';
import type { PolicyDetails, StepInput } from '#console/api/teams.ts';
import type { Level } from '#modules/exceptions/decide/level.ts';
import { PAUSE_MINUTES_MAX, POLICY_STEPS_MAX, REPEAT_TIMES_MAX } from '#modules/policies/decide/policy_details.ts';
import type { Channel } from '#modules/contacts/decide/channel.ts';

export interface DraftStep {
  /** Key that stays with the step when it is moved. */
  readonly key: number;
  /** Delay in minutes; an empty text while nothing is entered. */
  readonly afterMinutes: number | '';
  readonly channels: readonly Channel[];
  readonly targetUserIds: readonly string[];
  readonly useSchedule: boolean;
  /** Schedules of the team that it asks; none for all. */
  readonly scheduleIds: readonly string[];
  /** Whether it pages those whose turn follows instead of those on call. */
  readonly isNext: boolean;
  /** Team whose members it pages, all or one in turn; null for none. */
  readonly pagedTeamId: string | null;
  readonly isInTurn: boolean;
  /** Policy whose steps follow instead; null for none. */
  readonly policyId: string | null;
  readonly needsEverybody: boolean;
}

/** Repetition as the editor holds it; 0 times for none, an empty text while nothing is entered. */
export interface DraftRepeat {
  readonly times: number | '';
  readonly pauseMinutes: number | '';
}

export interface DraftHours {
  readonly timezone: string;
  readonly windows: readonly {
    readonly key: number;
    readonly days: readonly number[];
    readonly from: string;
    readonly to: string;
  }[];
  /** Policy that runs outside them, empty until one is chosen; null: its steps wait. */
  readonly otherPolicyId: string | null;
  readonly exemptFrom: Level | null;
}

export interface HoursFaults {
  readonly timezone?: string | undefined;
  readonly windows?: string | undefined;
  readonly outside?: string | undefined;
  /** Faults of windows, by their key. */
  readonly ofWindows: ReadonlyMap<number, { readonly days?: string; readonly from?: string; readonly to?: string }>;
}

export interface PolicyDraft {
  readonly name: string;
  /** Id of the team; empty until one is chosen. */
  readonly teamId: string;
  readonly steps: readonly DraftStep[];
  readonly repeat: DraftRepeat;
  /** Null: it pages at any time. */
  readonly hours: DraftHours | null;
}

export interface DraftFaults {
  readonly name?: string;
  readonly teamId?: string;
  readonly steps?: string;
  readonly repeat?: string;
  readonly hours?: HoursFaults;
  readonly ofSteps: ReadonlyMap<number, { readonly afterMinutes?: string; readonly channels?: string }>;
}

type StoredStep = PolicyDetails['steps'][number];
type PolicyInput = Pick<InputOf<'replace_escalation_policy'>, 'steps' | 'repeat' | 'hours'>;

/** Fields of a step that pages nobody beyond the contract's fields. */
export const NO_DETAILS = {
  scheduleIds: [],
  isNext: false,
  pagedTeamId: null,
  isInTurn: false,
  policyId: null,
  needsEverybody: false,
} as const;

export const NO_REPEAT: DraftRepeat = { times: 0, pauseMinutes: 10 };

const GAP_MINUTES = 5;

export function toDraftSteps(steps: readonly StoredStep[]): DraftStep[] {
  return steps.map((step, key) => ({
    key,
    afterMinutes: step.afterMinutes,
    channels: [...new Set(step.channels)],
    targetUserIds: step.targetUserIds,
    useSchedule: step.useSchedule,
    scheduleIds: step.scheduleIds ?? [],
    isNext: step.turn === 'next',
    pagedTeamId: step.members?.teamId ?? null,
    isInTurn: step.members?.inTurn === true,
    policyId: step.policyId ?? null,
    needsEverybody: step.needsEverybody === true,
  }));
}

export function toDraft({ name, teamId, steps, repeat, hours }: StoredPolicy): PolicyDraft {
  return {
    name,
    teamId,
    steps: toDraftSteps(steps),
    repeat: repeat ?? NO_REPEAT,
    hours: hours === undefined ? null : toDraftHours(hours),
  };
}

type StoredPolicy = Pick<PolicyDetails, 'name' | 'teamId' | 'steps' | 'repeat' | 'hours'>;

function toDraftHours({ timezone, windows, outside, exemptFrom }: NonNullable<StoredPolicy['hours']>): DraftHours {
  return {
    timezone,
    windows: windows.map((window, key) => ({ key, ...window })),
    otherPolicyId: outside === 'hold' ? null : outside.policyId,
    exemptFrom,
  };
}

/** Returns hours of the office in the zone of the browser. */
export function newHours(): DraftHours {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return { timezone: timeZone, windows: addWindow([]), otherPolicyId: null, exemptFrom: null };
}

export function addWindow(windows: DraftHours['windows']): DraftHours['windows'] {
  const key = Math.max(-1, ...windows.map((window) => window.key)) + 1;
  return [...windows, { key, days: [1, 2, 3, 4, 5], from: '09:00', to: '17:00' }];
}

/** Converts what a policy says to the request; the draft must have no faults. */
export function toPolicyInput({ steps, repeat, hours }: Pick<PolicyDraft, 'steps' | 'repeat' | 'hours'>): PolicyInput {
  const { times, pauseMinutes } = repeat;
  return {
    steps: toStepInputs(steps),
    ...(Number(times) > 0 && { repeat: { times: Number(times), pauseMinutes: Number(pauseMinutes) } }),
    ...(hours !== null && {
      hours: {
        timezone: hours.timezone,
        windows: hours.windows.map(({ days, from, to }) => ({ days: [...days], from, to })),
        outside: hours.otherPolicyId === null ? ('hold' as const) : { policyId: hours.otherPolicyId },
        exemptFrom: hours.exemptFrom,
      },
    }),
  };
}

/** Converts the steps to the request; the draft must have no faults. */
export function toStepInputs(steps: readonly DraftStep[]): StepInput[] {
  return steps.map((step) => {
    const { afterMinutes, channels, scheduleIds, isNext, pagedTeamId, isInTurn, policyId, needsEverybody } = step;
    const useSchedule = step.useSchedule && policyId === null;
    return {
      afterMinutes: afterMinutes === '' ? 0 : afterMinutes,
      channels: [...channels],
      targetUserIds: policyId === null ? [...step.targetUserIds] : [],
      useSchedule,
      ...(useSchedule && scheduleIds.length > 0 && { scheduleIds: [...scheduleIds] }),
      ...(useSchedule && isNext && { turn: 'next' as const }),
      ...(pagedTeamId !== null && { members: { teamId: pagedTeamId, ...(isInTurn && { inTurn: isInTurn }) } }),
      ...(policyId !== null && { policyId }),
      ...(needsEverybody && { needsEverybody }),
    };
  });
}

/** Returns the faults of a draft. A new policy needs a step; a stored one may lose all, and then pages nobody. */
export function faultsOf({ name, teamId, steps, repeat, hours }: PolicyDraft, isNew: boolean): DraftFaults {
  const ofHours = hours === null ? null : faultsOfHours(hours);
  const ofSteps = steps.flatMap(({ key, afterMinutes, channels }) => {
    const faults = {
      ...(!isMinutes(afterMinutes) && { afterMinutes: 'Enter whole minutes, 0 or more' }),
      ...(channels.length === 0 && { channels: 'Choose at least one channel' }),
    };
    return Object.keys(faults).length === 0 ? [] : [[key, faults] as const];
  });
  return {
    ...(name.trim() === '' && { name: 'A policy needs a name' }),
    ...(teamId === '' && { teamId: 'Choose the team whose schedules it uses' }),
    ...(isNew && steps.length === 0 && { steps: 'Add at least one step' }),
    ...(!isRepeat(repeat) && {
      repeat: `Enter 0 to ${REPEAT_TIMES_MAX} times, and a pause of 1 to ${PAUSE_MINUTES_MAX} minutes`,
    }),
    ...(ofHours !== null && { hours: ofHours }),
    ofSteps: new Map(ofSteps),
  };
}

function isRepeat({ times, pauseMinutes }: DraftRepeat): boolean {
  if (!isMinutes(times) || times > REPEAT_TIMES_MAX) return false;
  return times === 0 || (isMinutes(pauseMinutes) && pauseMinutes >= 1 && pauseMinutes <= PAUSE_MINUTES_MAX);
}

function faultsOfHours({ windows, otherPolicyId }: DraftHours): HoursFaults | null {
  const ofWindows = windows.flatMap(({ key, days, from, to }) => {
    const faults = {
      ...(days.length === 0 && { days: 'Choose at least one day' }),
      ...(!/^([01]\d|2[0-3]):[0-5]\d$/.test(from) && { from: 'Enter a time such as 09:00' }),
      ...(!/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/.test(to) && { to: 'Enter a time such as 17:00' }),
    };
    return Object.keys(faults).length === 0 ? [] : [[key, faults] as const];
  });
  const outside = otherPolicyId === '' ? { outside: 'Choose the policy that runs then' } : {};
  if (ofWindows.length === 0 && otherPolicyId !== '') return null;
  return { ...outside, ofWindows: new Map(ofWindows) };
}

export function hasFaults({ ofSteps, ...others }: DraftFaults): boolean {
  return ofSteps.size > 0 || Object.keys(others).length > 0;
}

function isMinutes(minutes: number | ''): minutes is number {
  return Number.isSafeInteger(minutes) && Number(minutes) >= 0;
}

/**
 * Adds a step at the end, as much later than the last one as that is after the one before it, and louder: it is needed
 * if nobody answered.
 */
export function addStep(steps: readonly DraftStep[]): DraftStep[] {
  const step: DraftStep = {
    key: nextKey(steps),
    afterMinutes: minutesOfLast(steps) + (steps.length === 0 ? 0 : gapOf(steps)),
    channels: steps.length === 0 ? ['push', 'sms'] : ['push', 'sms', 'call'],
    targetUserIds: [],
    useSchedule: steps.length === 0,
    ...NO_DETAILS,
  };
  return [...steps, step].slice(0, POLICY_STEPS_MAX);
}

/** Value of everybody on call in the schedules of the team, among the targets of a step. */
export const ON_CALL = 'on_call';
const SCHEDULE = 'schedule ';
const TEAM = 'team ';

export const scheduleTarget = (scheduleId: string): string => `${SCHEDULE}${scheduleId}`;
export const teamTarget = (teamId: string): string => `${TEAM}${teamId}`;

/** Returns whom a step pages as the values of one picker: schedules, a team and people. */
export function targetsOf({ useSchedule, scheduleIds, pagedTeamId, targetUserIds }: DraftStep): string[] {
  return [
    ...(useSchedule && scheduleIds.length === 0 ? [ON_CALL] : []),
    ...(useSchedule ? scheduleIds.map(scheduleTarget) : []),
    ...(pagedTeamId === null ? [] : [teamTarget(pagedTeamId)]),
    ...targetUserIds,
  ];
}

/**
 * Returns the changes of a step whose picker has these values. A schedule takes the place of all schedules and the other
 * way round, whichever was chosen last; a step pages one team.
 */
export function withTargets(step: DraftStep, targets: readonly string[]): Partial<DraftStep> {
  const isAll = targets.includes(ON_CALL);
  const named = targets.filter((target) => target.startsWith(SCHEDULE)).map((target) => target.slice(SCHEDULE.length));
  const scheduleIds = isAll && (step.scheduleIds.length > 0 || named.length === 0) ? [] : named;
  const useSchedule = isAll || named.length > 0;
  const team = targets.findLast((target) => target.startsWith(TEAM));
  return {
    useSchedule,
    scheduleIds,
    isNext: step.isNext && useSchedule,
    pagedTeamId: team === undefined ? null : team.slice(TEAM.length),
    isInTurn: step.isInTurn && team !== undefined,
    targetUserIds: targets.filter(
      (target) => target !== ON_CALL && !target.startsWith(SCHEDULE) && !target.startsWith(TEAM),
    ),
  };
}

/** Moves a step to the place of its neighbour, whose time it takes: times stay in their order. */
export function moveStep(steps: readonly DraftStep[], key: number, by: 1 | -1): readonly DraftStep[] {
  const from = steps.findIndex((step) => step.key === key);
  const [moved, neighbour] = [steps[from], steps[from + by]];
  if (moved === undefined || neighbour === undefined) return steps;
  return steps.map((step) => {
    if (step === moved) return { ...neighbour, afterMinutes: moved.afterMinutes };
    return step === neighbour ? { ...moved, afterMinutes: neighbour.afterMinutes } : step;
  });
}

export function removeStep(steps: readonly DraftStep[], key: number): DraftStep[] {
  return steps.filter((step) => step.key !== key);
}

/** Repeats all steps after the last one, if the limit on steps allows it. */
export function repeatSteps(steps: readonly DraftStep[]): readonly DraftStep[] {
  if (!canRepeat(steps)) return steps;
  const later = minutesOfLast(steps) + gapOf(steps);
  const key = nextKey(steps);
  const again = steps.map((step, index) => ({
    ...step,
    key: key + index,
    afterMinutes:
      step.afterMinutes === '' ? ('' as const) : Math.min(step.afterMinutes + later, Number.MAX_SAFE_INTEGER),
  }));
  return [...steps, ...again];
}

export function canRepeat(steps: readonly DraftStep[]): boolean {
  return steps.length > 0 && steps.length * 2 <= POLICY_STEPS_MAX;
}

/** Whether a step fires before one that stands above it. */
export function isOutOfOrder(steps: readonly DraftStep[], index: number): boolean {
  const minutes = steps[index]?.afterMinutes;
  return steps.slice(0, index).some(({ afterMinutes }) => Number(afterMinutes) > Number(minutes));
}

function nextKey(steps: readonly DraftStep[]): number {
  return Math.max(-1, ...steps.map(({ key }) => key)) + 1;
}

function minutesOfLast(steps: readonly DraftStep[]): number {
  return Math.max(0, ...steps.map(({ afterMinutes }) => Number(afterMinutes)));
}

function gapOf(steps: readonly DraftStep[]): number {
  const [before, last] = steps.slice(-2).map(({ afterMinutes }) => Number(afterMinutes));
  const gap = before === undefined || last === undefined ? 0 : last - before;
  return gap > 0 ? gap : GAP_MINUTES;
}
