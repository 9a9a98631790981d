import type { Id } from '#kernel/ids.ts';
import { fromEpochMilliseconds, type Temporal } from '#kernel/time.ts';
import { schedulesOf } from '#modules/policies/decide/audience.ts';
import type { EscalationStep } from '#modules/policies/decide/escalation.ts';
import type { IsPresent } from '#modules/schedules/decide/layer.ts';
import { eachFinalShiftBetween, type LayeredSchedule } from '#modules/schedules/decide/layered_shifts.ts';

type UserId = Id<'user'>;

interface TeamSchedule {
  readonly id: Id<'schedule'>;
  readonly layered: LayeredSchedule;
}

interface Range {
  readonly from: Temporal.Instant;
  readonly to: Temporal.Instant;
  readonly isPresent: IsPresent;
}

/** Times at which the same person is on call for a step and, by another schedule, for an earlier one. */
export interface DoubleOnCall {
  /** The later step. */
  readonly stepIndex: number;
  readonly scheduleIds: readonly [earlier: Id<'schedule'>, later: Id<'schedule'>];
  /** Times within the range, oldest first, at least one. */
  readonly times: readonly {
    readonly userId: UserId;
    readonly since: Temporal.Instant;
    readonly until: Temporal.Instant;
  }[];
}

type Span = readonly [since: number, until: number];

/** Limit on the shifts of a schedule that are compared: an hourly rotation of four weeks has 672. */
const SHIFTS_MAX = 2_000;

/**
 * Returns a finder of people who are on call by two schedules of one policy at once, where the second is asked later than
 * the first: they would be paged again, and nobody else. Steps that page whose turn follows do not count. The shifts of a
 * schedule are computed once for all policies.
 */
export function doubleOnCallFinder(
  schedules: readonly TeamSchedule[],
  range: Range,
): (steps: readonly EscalationStep[]) => DoubleOnCall[] {
  const spansById = new Map<string, ReadonlyMap<UserId, Span[]>>();
  const spansOf = (schedule: TeamSchedule): ReadonlyMap<UserId, Span[]> => {
    const spans = spansById.get(schedule.id) ?? spansByPerson(schedule.layered, range);
    spansById.set(schedule.id, spans);
    return spans;
  };
  return (steps) =>
    pairsOf(steps, schedules).flatMap(({ stepIndex, earlier, later }): DoubleOnCall[] => {
      const times = [...spansOf(earlier)].flatMap(([userId, first]) =>
        overlapsOf(first, spansOf(later).get(userId) ?? []).map(([since, until]) => ({ userId, since, until })),
      );
      if (times.length === 0) return [];
      return [
        {
          stepIndex,
          scheduleIds: [earlier.id, later.id],
          times: times
            .toSorted((a, b) => a.since - b.since)
            .map(({ userId, since, until }) => {
              return { userId, since: fromEpochMilliseconds(since), until: fromEpochMilliseconds(until) };
            }),
        },
      ];
    });
}

/**
 * Returns each schedule that a step names and is the first to ask, with every schedule that was asked before. A step that
 * asks all schedules of the team means everybody, and no second person.
 */
function pairsOf(steps: readonly EscalationStep[], schedules: readonly TeamSchedule[]) {
  const asking = [...steps.entries()]
    .filter(([, { turn, policyId }]) => turn !== 'next' && policyId === undefined)
    .map(([stepIndex, step]) => ({ stepIndex, at: step.afterMinutes, asked: schedulesOf(step, schedules) }))
    .toSorted((a, b) => a.at - b.at);
  return asking.flatMap(({ stepIndex, at, asked }) => {
    const before = asking.filter((step) => step.at < at).flatMap((step) => step.asked);
    const isNew = (schedule: TeamSchedule) =>
      !before.includes(schedule) &&
      !asking.some((step) => step.at === at && step.stepIndex < stepIndex && step.asked.includes(schedule));
    return (asked === schedules ? [] : asked)
      .filter(isNew)
      .flatMap((later) => [...new Set(before)].map((earlier) => ({ stepIndex, earlier, later })));
  });
}

/** Returns when each person is on call within a range, oldest first, in milliseconds. */
function spansByPerson(layered: LayeredSchedule, { from, to, isPresent }: Range): ReadonlyMap<UserId, Span[]> {
  const [start, end] = [from.epochMilliseconds, to.epochMilliseconds];
  const spans = new Map<UserId, Span[]>();
  for (const { userIds, since, until } of eachFinalShiftBetween(layered, from, to, isPresent, SHIFTS_MAX)) {
    const begin = Math.max(start, since.epochMilliseconds);
    const finish = Math.min(end, until?.epochMilliseconds ?? end);
    for (const userId of new Set(userIds)) {
      const earlier = spans.get(userId) ?? [];
      const last = earlier.at(-1);
      const joins = last !== undefined && last[1] === begin;
      spans.set(userId, joins ? [...earlier.slice(0, -1), [last[0], finish]] : [...earlier, [begin, finish]]);
    }
  }
  return spans;
}

function overlapsOf(first: readonly Span[], second: readonly Span[]): Span[] {
  const overlaps: Span[] = [];
  for (let [a, b] = [0, 0]; a < first.length && b < second.length;) {
    const [[sinceA, untilA], [sinceB, untilB]] = [first[a] ?? [0, 0], second[b] ?? [0, 0]];
    const overlap: Span = [Math.max(sinceA, sinceB), Math.min(untilA, untilB)];
    if (overlap[0] < overlap[1]) overlaps.push(overlap);
    if (untilA < untilB) a += 1;
    else b += 1;
  }
  return overlaps;
}
