import type { Id } from '#kernel/ids.ts';
import type { PolicyHours, WeeklyHours } from '#modules/policies/decide/hours.ts';

/** Fields of a step beyond the contract's; absent ones say nothing. */
export interface StepDetails {
  /** Schedules whose people on call it pages; absent for all schedules of the team. Only with `useSchedule`. */
  readonly scheduleIds?: readonly Id<'schedule'>[];
  /** Pages those whose turn follows instead of those on call. Only with `useSchedule`. */
  readonly turn?: 'next';
  /** Team whose members it pages: all of them, or one after the other with each incident. */
  readonly members?: { readonly teamId: Id<'team'>; readonly inTurn?: true };
  /** Policy whose steps take the place of this one, and count their minutes from it. */
  readonly policyId?: Id<'policy'>;
  /**
   * Whether everybody whom it pages must acknowledge: an acknowledgement then stops the messages of one person only.
   */
  readonly needsEverybody?: true;
}

/** Fields of a step of an incident beyond those of its policy. */
export interface SnapshotDetails {
  /** Policy that it came from, with its team, if that is not the policy of the incident. */
  readonly origin?: { readonly policyId: Id<'policy'>; readonly teamId: Id<'team'> };
  /** Hours within which alone its minutes count, from so many minutes after the others begin. */
  readonly hours?: WeeklyHours & { readonly afterMinutes: number };
  /** Policy outside whose hours the policy of the incident runs; only of an incident that waits before it pages. */
  readonly insteadOf?: Id<'policy'>;
}

/** Repetition of all steps after the last one. */
export interface Repetition {
  /** 1 to 9. */
  readonly times: number;
  /** Minutes from the last step to the first one of the next round. */
  readonly pauseMinutes: number;
}

/** Fields of a policy beyond its steps. */
export interface PolicyDetails {
  readonly repeat?: Repetition;
  readonly hours?: PolicyHours;
}

export const REPEAT_TIMES_MAX = 9;
export const PAUSE_MINUTES_MAX = 1_440;
export const WINDOWS_MAX = 30;

export const POLICY_STEPS_MAX = 100;
