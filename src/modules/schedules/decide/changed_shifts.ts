import type { Id } from '#kernel/ids.ts';
import { isAtOrBefore, Temporal } from '#kernel/time.ts';

import type { Shift } from '#modules/schedules/decide/layered_shifts.ts';

type Instant = Temporal.Instant;
type UserId = Id<'user'>;

/** Time in which other people are on call than before, `[since, until)`; an empty list stands for nobody. */
export interface ChangedShift {
  readonly since: Instant;
  readonly until: Instant;
  readonly before: readonly UserId[];
  readonly after: readonly UserId[];
}

/**
 * Returns the changes within `[from, to)` when one plan replaces another, oldest first. Both are shifts of one
 * schedule, oldest first, and reach to the end of that time.
 */
export function changedShifts(
  before: readonly Shift[],
  after: readonly Shift[],
  from: Instant,
  to: Instant,
): ChangedShift[] {
  const edges = [...before, ...after]
    .flatMap(({ since, until }) => (until === null ? [since] : [since, until]))
    .filter((edge) => !isAtOrBefore(edge, from) && !isAtOrBefore(to, edge))
    .sort(Temporal.Instant.compare);
  const peopleBefore = peopleFinder(before);
  const peopleAfter = peopleFinder(after);
  const changes: ChangedShift[] = [];
  for (const [index, since] of [from, ...edges].entries()) {
    const until = edges[index] ?? to;
    if (until.equals(since)) continue;
    const [was, is] = [peopleBefore(since), peopleAfter(since)];
    if (areSame(was, is)) continue;
    const last = changes.at(-1);
    const goesOn =
      last !== undefined && last.until.equals(since) && areSame(last.before, was) && areSame(last.after, is);
    if (goesOn) changes[changes.length - 1] = { ...last, until };
    else changes.push({ since, until, before: was, after: is });
  }
  return changes;
}

function areSame(a: readonly UserId[], b: readonly UserId[]): boolean {
  return a.length === b.length && a.every((userId) => b.includes(userId));
}

/** Returns a function for who is on call at an instant; instants must be in ascending order. */
function peopleFinder(shifts: readonly Shift[]): (at: Instant) => readonly UserId[] {
  let index = 0;
  return (at) => {
    for (let shift = shifts[index]; shift?.until && isAtOrBefore(shift.until, at); shift = shifts[index]) index += 1;
    const shift = shifts[index];
    return shift !== undefined && isAtOrBefore(shift.since, at) ? shift.userIds : [];
  };
}
