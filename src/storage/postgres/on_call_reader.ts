import { type OnCall, onCallOfSchedule } from '#core/oncall/on_call.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { PeopleStore, Person } from '#storage/postgres/people_store.ts';
import { rotationOf, type ScheduleRow, type ScheduleStore } from '#storage/postgres/schedule_store.ts';

export interface ScheduleOnCall {
  readonly schedule: ScheduleRow;
  readonly onCall: OnCall;
}

export interface TeamOnCall {
  /** Oldest schedule first. */
  readonly schedules: readonly ScheduleOnCall[];
  /** Everyone whom the schedules name and who belongs to the organization. */
  readonly people: ReadonlyMap<string, Person>;
}

/** Overrides that ended longer ago no longer count when it is said since when somebody is on call. */
const OVERRIDES_REMEMBERED_HOURS = 400 * 24;

/** Who is on call: the rows that `core/oncall` decides from, and its decision. */
export class OnCallReader {
  readonly #schedules: ScheduleStore;
  readonly #people: PeopleStore;

  constructor(schedules: ScheduleStore, people: PeopleStore) {
    this.#schedules = schedules;
    this.#people = people;
  }

  /** In three queries, however many schedules the team has. People who have left the organization are passed over. */
  async ofTeam(orgId: Id<'org'>, teamId: Id<'team'>, at: Temporal.Instant): Promise<TeamOnCall> {
    const schedules = await this.#schedules.listOfTeams(orgId, [teamId]);
    const overrides = await this.#schedules.listOverrides(
      orgId,
      schedules.map(({ id }) => id),
      at.subtract({ hours: OVERRIDES_REMEMBERED_HOURS }),
    );
    const people = await this.#people.listPeople(orgId, [
      ...schedules.flatMap(({ rotationConfig }) => rotationConfig.userIds),
      ...overrides.map(({ userId }) => userId),
    ]);
    const isPresent = (userId: Id<'user'>) => people.has(userId);
    const overridesOf = Map.groupBy(overrides, ({ scheduleId }) => scheduleId);
    return {
      people,
      schedules: schedules.map((schedule) => ({
        schedule,
        onCall: onCallOfSchedule(rotationOf(schedule), overridesOf.get(schedule.id) ?? [], at, isPresent),
      })),
    };
  }
}
