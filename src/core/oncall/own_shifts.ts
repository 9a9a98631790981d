import type { Id } from '#kernel/ids.ts';
import { isAtOrBefore, type Temporal } from '#kernel/time.ts';

import { finalShifts } from './final_shifts.ts';
import type { Override } from './overrides.ts';
import type { IsPresent, Rotation } from './rotation.ts';
import type { Shift } from './shift.ts';

const DAYS_AHEAD = 90;
/** A rotation by the hour reaches four days with it: whoever takes turns that short looks no further. */
const SHIFTS_LOOKED_AT = 100;

interface Whose {
  readonly userId: Id<'user'>;
  readonly from: Temporal.Instant;
  readonly limit: number;
}

/** The shifts of one person in a schedule that end after `from`, oldest first: those of the next 90 days, at most `limit`. */
export function ownShifts(
  rotation: Rotation,
  overrides: readonly Override[],
  { userId, from, limit }: Whose,
  isPresent: IsPresent,
): Shift[] {
  if (!rotation.userIds.includes(userId) && overrides.every((override) => override.userId !== userId)) return [];
  const to = from.add({ hours: DAYS_AHEAD * 24 });
  const own: Shift[] = [];
  let lookedAt = 0;
  for (const shift of finalShifts(rotation, overrides, from, isPresent)) {
    if (lookedAt === SHIFTS_LOOKED_AT || own.length === limit || isAtOrBefore(to, shift.since)) break;
    lookedAt += 1;
    if (shift.userId === userId) own.push(shift);
  }
  return own;
}
