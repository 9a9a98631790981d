import { type Static, Type } from 'typebox';

import { LIST_LIMIT } from '#actions/action_context.ts';
import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { ownShifts } from '#core/oncall/own_shifts.ts';
import type { Id } from '#kernel/ids.ts';
import { type Temporal, toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import type { ScheduleOnCall, TeamOnCall } from '#storage/postgres/on_call_reader.ts';
import type { Stores } from '#storage/postgres/stores.ts';
import { rotationOf } from '#storage/postgres/schedule_store.ts';

/** A shift of one person. */
export const OwnShiftView = Type.Object({
  scheduleId: IdText,
  scheduleName: Type.String(),
  teamName: Type.String(),
  source: Type.Enum(['rotation', 'override']),
  since: Timestamp,
  until: nullable(Timestamp),
});

type OfSchedule = Pick<ScheduleOnCall, 'schedule' | 'overrides'> &
  Pick<TeamOnCall, 'people'> & { readonly teamName: string };

/** The same over all schedules of the organization. */
export async function listOwnShifts(
  stores: Stores,
  orgId: Id<'org'>,
  userId: Id<'user'>,
  now: Temporal.Instant,
  limit: number,
): Promise<Static<typeof OwnShiftView>[]> {
  const teams = await stores.teams.list(orgId, LIST_LIMIT);
  const onCallOf = await stores.onCall.ofTeams(
    orgId,
    teams.map(({ id }) => id),
    now,
  );
  const schedules = teams.flatMap(({ id, name: teamName }) => {
    const { schedules: found, people } = onCallOf(id);
    return found.map(({ schedule, overrides }) => ({ schedule, overrides, people, teamName }));
  });
  return readOwnShifts(schedules, userId, now, limit);
}

/** The person's shifts over all of these schedules that have not ended, the earliest first. */
export function readOwnShifts(
  schedules: readonly OfSchedule[],
  userId: Id<'user'>,
  now: Temporal.Instant,
  limit: number,
): Static<typeof OwnShiftView>[] {
  return schedules
    .flatMap(({ schedule, overrides, people, teamName }) => {
      const isPresent = (candidate: string): boolean => people.has(candidate);
      const shifts = ownShifts(rotationOf(schedule), overrides, { userId, from: now, limit }, isPresent);
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
