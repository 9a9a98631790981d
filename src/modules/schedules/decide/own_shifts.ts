import type { Id } from '#kernel/ids.ts';
import { isAtOrBefore, type Temporal } from '#kernel/time.ts';

import type { IsPresent } from '#modules/schedules/decide/layer.ts';
import { finalShifts, type LayeredSchedule, type Shift } from '#modules/schedules/decide/layered_shifts.ts';

const DAYS_AHEAD = 90;
/** Limit on the shifts looked at: over two weeks of an hourly rotation, or 90 days of four turns a day. */
const SHIFTS_LOOKED_AT = 400;

interface Whose {
  readonly userId: Id<'user'>;
  readonly from: Temporal.Instant;
  readonly limit: number;
}

/**
 * Returns the times that one person is on call in a schedule after `from`, oldest first: in the next 90 days, at most
 * `limit`. Adjoining times, such as an override and a turn, are one; its source is that of its beginning.
 */
export function ownShifts(schedule: LayeredSchedule, { userId, from, limit }: Whose, isPresent: IsPresent): Shift[] {
  if (!namesPerson(schedule, userId)) return [];
  const to = from.add({ hours: DAYS_AHEAD * 24 });
  const shifts: Shift[] = [];
  let lookedAt = 0;
  for (const shift of finalShifts(schedule, from, isPresent)) {
    if (lookedAt === SHIFTS_LOOKED_AT || isAtOrBefore(to, shift.since)) break;
    lookedAt += 1;
    if (!shift.userIds.includes(userId)) continue;
    const last = shifts.at(-1);
    if (last?.until?.equals(shift.since) === true) shifts[shifts.length - 1] = { ...last, until: shift.until };
    else if (shifts.length === limit) break;
    else shifts.push(shift);
  }
  return shifts;
}

/** Whether a layer or an override names the person. */
export function namesPerson({ layers, overrides }: LayeredSchedule, userId: Id<'user'>): boolean {
  return (
    overrides.some((override) => override.userId === userId) ||
    layers.some(({ turns, carried }) =>
      [...turns, ...(carried ? [carried] : [])].some(({ userIds }) => userIds.includes(userId)),
    )
  );
}
