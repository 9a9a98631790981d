import type { StepInput } from '#console/api/team_pages.ts';
import type { Channel } from '#modules/contacts/decide/channel.ts';
import { POLICY_STEPS_MAX } from '#modules/policies/decide/limits.ts';

/** Step as the editor holds it. */
export interface DraftStep {
  /** Key that stays with the step when it is moved. */
  readonly key: number;
  /** Delay in minutes; an empty text while nothing is entered. */
  readonly afterMinutes: number | '';
  readonly channels: readonly Channel[];
  readonly targetUserIds: readonly string[];
  readonly useSchedule: boolean;
}

export interface PolicyDraft {
  readonly name: string;
  /** Id of the team; empty until one is chosen. */
  readonly teamId: string;
  readonly steps: readonly DraftStep[];
}

/** Faults of a draft, by field. */
export interface DraftFaults {
  readonly name?: string;
  readonly teamId?: string;
  readonly steps?: string;
  /** Faults of steps, by the key of the step. */
  readonly ofSteps: ReadonlyMap<number, { readonly afterMinutes?: string; readonly channels?: string }>;
}

type StoredStep = Omit<Required<StepInput>, 'channels' | 'targetUserIds'> & {
  readonly channels: readonly Channel[];
  readonly targetUserIds: readonly string[];
};

const GAP_MINUTES = 5;

export function toDraftSteps(steps: readonly StoredStep[]): DraftStep[] {
  return steps.map(({ afterMinutes, channels, targetUserIds, useSchedule }, key) => {
    return { key, afterMinutes, channels: [...new Set(channels)], targetUserIds, useSchedule };
  });
}

/** Converts the steps to the request; the draft must have no faults. */
export function toStepInputs(steps: readonly DraftStep[]): StepInput[] {
  return steps.map(({ afterMinutes, channels, targetUserIds, useSchedule }) => ({
    afterMinutes: afterMinutes === '' ? 0 : afterMinutes,
    channels: [...channels],
    targetUserIds: [...targetUserIds],
    useSchedule,
  }));
}

/** Returns the faults of a draft. A new policy needs a step; a stored one may lose all, and then pages nobody. */
export function faultsOf({ name, teamId, steps }: PolicyDraft, isNew: boolean): DraftFaults {
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
    ofSteps: new Map(ofSteps),
  };
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
  };
  return [...steps, step].slice(0, POLICY_STEPS_MAX);
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
