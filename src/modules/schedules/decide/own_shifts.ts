import type { Id } from '#kernel/ids.ts';
import { isAtOrBefore, type Temporal } from '#kernel/time.ts';

import { finalShifts } from './final_shifts.ts';
import type { Override } from './overrides.ts';
import type { IsPresent, Rotation } from './rotation.ts';
import type { Shift } from './shift.ts';

const DAYS_AHEAD = 90;
/** Limit on the shifts looked at: four days of an hourly rotation, enough for people with turns that short. */
const SHIFTS_LOOKED_AT = 100;

interface Whose {
  readonly userId: Id<'user'>;
  readonly from: Temporal.Instant;
  readonly limit: number;
}

/**
 * Returns the times that one person is on call in a schedule after `from`, oldest first: in the next 90 days, at most
 * `limit`. Adjoining times, an override and a turn of the rotation, are one; its source is that of its beginning.
 */
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
    if (lookedAt === SHIFTS_LOOKED_AT || isAtOrBefore(to, shift.since)) break;
    lookedAt += 1;
    if (shift.userId !== userId) continue;
    const last = own.at(-1);
    if (last?.until?.equals(shift.since) === true) own[own.length - 1] = { ...last, until: shift.until };
    else if (own.length === limit) break;
    else own.push(shift);
  }
  return own;
}
