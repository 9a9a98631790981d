import { type Static, Type } from 'typebox';

import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { ownShifts } from '#modules/schedules/decide/layered_shifts.ts';
import type { Id } from '#kernel/ids.ts';
import { type Temporal, toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import type { ScheduleOnCall, TeamOnCall } from '#modules/schedules/store/on_call_reader.ts';
import type { Stores } from '#modules/stores.ts';

export const OwnShiftView = Type.Object({
  scheduleId: IdText,
  scheduleName: Type.String(),
  teamName: Type.String(),
  source: Type.Enum(['rotation', 'override']),
  since: Timestamp,
  until: nullable(Timestamp),
});

type OfSchedule = Pick<ScheduleOnCall, 'schedule' | 'layered'> &
  Pick<TeamOnCall, 'people'> & { readonly teamName: string };

/** Lists the person's shifts over all schedules of the organization that name them. */
export async function listOwnShifts(
  stores: Stores,
  orgId: Id<'org'>,
  userId: Id<'user'>,
  now: Temporal.Instant,
  limit: number,
): Promise<Static<typeof OwnShiftView>[]> {
  const rows = await stores.schedules.listNaming(orgId, userId, { after: now });
  const { schedules, people } = await stores.onCall.ofSchedulesAt(orgId, rows, now);
  const teams = await stores.teams.findAll(orgId, [...new Set(rows.map(({ teamId }) => teamId))]);
  const nameOf = new Map(teams.map(({ id, name }) => [id, name]));
  const ownSchedules = schedules.map(({ schedule, layered }) => {
    return { schedule, layered, people, teamName: nameOf.get(schedule.teamId) ?? '' };
  });
  return readOwnShifts(ownSchedules, userId, now, limit);
}

/** Returns the person's shifts over all of these schedules that have not ended, the earliest first. */
export function readOwnShifts(
  schedules: readonly OfSchedule[],
  userId: Id<'user'>,
  now: Temporal.Instant,
  limit: number,
): Static<typeof OwnShiftView>[] {
  return schedules
    .flatMap(({ schedule, layered, people, teamName }) => {
      const isPresent = (candidate: string): boolean => people.has(candidate);
      const shifts = ownShifts(layered, { userId, from: now, limit }, isPresent);
      return shifts.map(({ source, since, until }) => ({
        scheduleId: schedule.id,
        scheduleName: schedule.name,
        teamName,
        source,
        since: toTimestamp(since),
        until: toTimestampOrNull(until),
      }));
    })
    .toSorted((a, b) => a.since.localeCompare(b.since))
    .slice(0, limit);
}
