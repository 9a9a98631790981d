import type { EscalationStep } from '#modules/policies/decide/escalation.ts';
import { type OnCall, peopleOnCall } from '#modules/schedules/decide/layered_shifts.ts';
import type { Id } from '#kernel/ids.ts';

type UserId = Id<'user'>;

/** A schedule of a team at the instant when a step fires. */
interface ScheduleThen {
  readonly id?: Id<'schedule'>;
  readonly onCall: OnCall;
}

/** People whom a step may page besides those it names. */
export interface AudienceFacts {
  /** Schedules of the policy's team. */
  readonly schedules: readonly ScheduleThen[];
  /** Members of the team whose members the step pages, in their order. */
  readonly memberIds: readonly UserId[];
}

/** Returns the schedules that a step asks: those it names, or all of the team when none of those exists any more. */
export function schedulesOf<Schedule extends Pick<ScheduleThen, 'id'>>(
  { useSchedule, scheduleIds }: Pick<EscalationStep, 'useSchedule' | 'scheduleIds'>,
  schedules: readonly Schedule[],
): readonly Schedule[] {
  if (!useSchedule) return [];
  const named = schedules.filter(({ id }) => id !== undefined && scheduleIds?.includes(id));
  return named.length === 0 ? schedules : named;
}

/**
 * Returns whom a step pages besides the people it names: those on call, or those whose turn follows, then the members of
 * a team. `turn` begins the members with the one whose turn it is.
 */
export function audienceOf(
  step: Pick<EscalationStep, 'useSchedule' | 'scheduleIds' | 'turn' | 'members'>,
  { schedules, memberIds }: AudienceFacts,
): UserId[] {
  const asked = schedulesOf(step, schedules).map(({ onCall }) => onCall);
  const people = step.turn === 'next' ? peopleNext(asked) : peopleOnCall(asked);
  return [...new Set([...people, ...(step.members === undefined ? [] : memberIds)])];
}

/** Returns those whose turn follows, each once, in the order of the schedules. */
export function peopleNext(schedules: readonly OnCall[]): UserId[] {
  return [...new Set(schedules.flatMap(({ next }) => next?.userIds ?? []))];
}

/** The last turn of a round robin. */
export interface LastTurn {
  readonly userId: UserId;
  /** Place of the person among the members then, from 0. */
  readonly position: number;
}

/**
 * Returns the members beginning with the one whose turn it is: who follows the person of the last turn, or, if that
 * person has left, who stands at their place now.
 */
export function inTurn(memberIds: readonly UserId[], last: LastTurn | null): UserId[] {
  if (last === null || memberIds.length === 0) return [...memberIds];
  const place = memberIds.indexOf(last.userId);
  const first = (place === -1 ? last.position : place + 1) % memberIds.length;
  return [...memberIds.slice(first), ...memberIds.slice(0, first)];
}
