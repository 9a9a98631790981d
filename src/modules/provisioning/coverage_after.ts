import { ownShifts, sortedGaps } from '#modules/schedules/decide/layered_shifts.ts';
import { asId, type Id } from '#kernel/ids.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';
import type { Stores } from '#modules/stores.ts';

const SCHEDULES_MAX = 50;
const DAYS_AHEAD = 30;
const GAPS_SHOWN_MAX = 3;

/** A schedule that names a person who is no member any more. */
export interface UncoveredSchedule {
  readonly scheduleId: Id<'schedule'>;
  readonly teamId: Id<'team'>;
  readonly name: string;
  /** Says what becomes of the person's shifts. */
  readonly text: string;
}

/** Reads what becomes of the shifts of a person who was deactivated, schedule by schedule. */
export async function readUncovered(
  { schedules, onCall }: Pick<Stores, 'schedules' | 'onCall'>,
  orgId: Id<'org'>,
  userId: Id<'user'>,
  now: Temporal.Instant,
): Promise<UncoveredSchedule[]> {
  const rows = await schedules.listNaming(orgId, userId, { after: now, limit: SCHEDULES_MAX });
  const { schedules: read, people } = await onCall.ofSchedulesAt(orgId, rows, now);
  const until = now.add({ hours: DAYS_AHEAD * 24 });
  const isPresent = (id: string): boolean => people.has(id);
  return read.map(({ schedule, layered }) => {
    const [first] = ownShifts(layered, { userId, from: now, limit: 1 }, (id) => id === userId || isPresent(id));
    const gaps = sortedGaps(layered, now, until, isPresent, GAPS_SHOWN_MAX).unplanned;
    const turn =
      first === undefined ? 'no shift in the next 90 days' : `the next shift would begin ${toTimestamp(first.since)}`;
    const [gap] = gaps;
    const rest =
      gap === undefined
        ? 'the others of the schedule take the shifts over'
        : `nobody is on call from ${toTimestamp(gap.since)} to ${toTimestamp(gap.until)}${gaps.length > 1 ? ', and at other times within 30 days' : ''}`;
    return {
      scheduleId: schedule.id,
      teamId: asId('team', schedule.teamId),
      name: schedule.name,
      text: `${schedule.name}: ${turn}; ${rest}`,
    };
  });
}
