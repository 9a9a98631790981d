import { eachFinalShiftBetween } from '#modules/schedules/decide/final_shifts.ts';
import { type OnCall, onCallOfSchedule } from '#modules/schedules/decide/on_call.ts';
import type { Override } from '#modules/schedules/decide/overrides.ts';
import type { Shift } from '#modules/schedules/decide/shift.ts';
import { collectInTurns, nextTurn } from '#kernel/event_loop_turns.ts';
import type { Id } from '#kernel/ids.ts';
import { isAtOrBefore, type Temporal } from '#kernel/time.ts';
import type { PeopleStore, Person } from '#modules/accounts/store/people_store.ts';
import { rotationOf, type ScheduleRow, type ScheduleStore } from '#modules/schedules/store/schedule_store.ts';

export interface ScheduleOnCall {
  readonly schedule: ScheduleRow;
  /** Overrides that had not ended long ago. */
  readonly overrides: readonly Override[];
  readonly onCall: OnCall;
}

export interface TeamOnCall {
  /** Schedules of the team, oldest first. */
  readonly schedules: readonly ScheduleOnCall[];
  /** Everyone whom the schedules name and who belongs to the organization. */
  readonly people: ReadonlyMap<string, Person>;
}

/** A schedule over some time. */
export interface ScheduleShifts {
  readonly schedule: ScheduleRow;
  /** Oldest first, with their true limits, which may lie outside. */
  readonly shifts: readonly Shift[];
  readonly people: ReadonlyMap<string, Person>;
  /** Time at which the schedule was last changed, or an override laid over it. */
  readonly changedAt: Temporal.Instant;
}

/** Shifts of one person over all schedules. */
export interface ShiftsOfPerson {
  readonly person: Person;
  /** Schedules that name the person, oldest first, each with the person's shifts only. */
  readonly schedules: readonly Omit<ScheduleShifts, 'people'>[];
  /** False when there were too many schedules or shifts to look at. */
  readonly isComplete: boolean;
}

/** `[from, to)`, and the most shifts of a schedule. */
interface TimeRange {
  readonly from: Temporal.Instant;
  readonly to: Temporal.Instant;
  readonly limit: number;
}

/** A schedule over some time, and who is on call at one instant. */
export interface ScheduleOverTime extends ScheduleOnCall {
  /** Oldest first, with their true limits, which may lie outside. */
  readonly shifts: readonly Shift[];
}

/** Overrides that ended longer ago no longer count when it is said since when somebody is on call. */
const OVERRIDES_REMEMBERED_HOURS = 400 * 24;

/** Each takes some 20 µs to find, most of it in the rules of time zones. */
const SHIFTS_A_TURN = 200;

/** The schedules of one person that are looked at. */
const SCHEDULES_OF_PERSON_MAX = 50;

/** Reads who is on call: the rows that `modules/schedules/decide` decides from, and its decision. */
export class OnCallReader {
  readonly #schedules: ScheduleStore;
  readonly #people: PeopleStore;

  constructor(schedules: ScheduleStore, people: PeopleStore) {
    this.#schedules = schedules;
    this.#people = people;
  }

  /** Reads one team as `ofTeams` does. */
  async ofTeam(orgId: Id<'org'>, teamId: Id<'team'>, at: Temporal.Instant): Promise<TeamOnCall> {
    return (await this.ofTeams(orgId, [teamId], at))(teamId);
  }

  /**
   * Reads teams in three queries, however many teams and schedules there are. People who have left the organization are
   * passed over.
   */
  async ofTeams(
    orgId: Id<'org'>,
    teamIds: readonly Id<'team'>[],
    at: Temporal.Instant,
  ): Promise<(teamId: Id<'team'>) => TeamOnCall> {
    const { schedules, people } = await this.ofSchedulesAt(
      orgId,
      await this.#schedules.listOfTeams(orgId, teamIds),
      at,
    );
    const schedulesOf = Map.groupBy(schedules, ({ schedule }) => schedule.teamId);
    return (teamId) => ({ people, schedules: schedulesOf.get(teamId) ?? [] });
  }

  /** Reads who is on call in these schedules, in their order, in two queries however many there are. */
  async ofSchedulesAt(orgId: Id<'org'>, schedules: readonly ScheduleRow[], at: Temporal.Instant): Promise<TeamOnCall> {
    const overrides = await this.#schedules.listOverrides(
      orgId,
      schedules.map(({ id }) => id),
      at.subtract({ hours: OVERRIDES_REMEMBERED_HOURS }),
    );
    const people = await this.#people.listPeople(orgId, [
      ...schedules.flatMap((schedule) => rotationOf(schedule).userIds),
      ...overrides.map(({ userId }) => userId),
    ]);
    const isPresent = (userId: Id<'user'>) => people.has(userId);
    const overridesOf = Map.groupBy(overrides, ({ scheduleId }) => scheduleId);
    const found = schedules.map((schedule): ScheduleOnCall => {
      const own = overridesOf.get(schedule.id) ?? [];
      return { schedule, overrides: own, onCall: onCallOfSchedule(rotationOf(schedule), own, at, isPresent) };
    });
    return { schedules: found, people };
  }

  /**
   * Reads at most `limit` shifts of each schedule that overlap `[from, to)`, and who is on call at `at`, by the same
   * rows and the same decisions. Runs two queries, however many schedules there are.
   */
  async overTime(
    orgId: Id<'org'>,
    schedules: readonly ScheduleRow[],
    { from, to, at, limit }: TimeRange & { readonly at: Temporal.Instant },
  ): Promise<{ schedules: ScheduleOverTime[]; people: ReadonlyMap<string, Person> }> {
    const earliest = isAtOrBefore(from, at) ? from : at;
    const ids = schedules.map(({ id }) => id);
    const remembered = earliest.subtract({ hours: OVERRIDES_REMEMBERED_HOURS });
    const overrides = await this.#schedules.listOverrides(orgId, ids, remembered);
    const people = await this.#people.listPeople(orgId, [
      ...schedules.flatMap((schedule) => rotationOf(schedule).userIds),
      ...overrides.map(({ userId }) => userId),
    ]);
    const isPresent = (userId: Id<'user'>) => people.has(userId);
    const overridesOf = Map.groupBy(overrides, ({ scheduleId }) => scheduleId);
    const found: ScheduleOverTime[] = [];
    for (const schedule of schedules) {
      const own = overridesOf.get(schedule.id) ?? [];
      const rotation = rotationOf(schedule);
      const onCall = onCallOfSchedule(rotation, own, at, isPresent);
      const ahead = eachFinalShiftBetween(rotation, own, from, to, isPresent, limit);
      const shifts = await collectInTurns(ahead, SHIFTS_A_TURN);
      found.push({ schedule, overrides: own, onCall, shifts });
      await nextTurn();
    }
    return { schedules: found, people };
  }

  /**
   * The shifts of one person in every schedule that overlap `[from, to)`. About `limit` shifts are looked at, whosever
   * they are. Null when they are no member.
   */
  async ofPerson(orgId: Id<'org'>, userId: Id<'user'>, { from, to, limit }: TimeRange): Promise<ShiftsOfPerson | null> {
    const person = (await this.#people.listPeople(orgId, [userId])).get(userId);
    if (person === undefined) return null;
    const rows = await this.#schedules.listNaming(orgId, userId, { after: from, limit: SCHEDULES_OF_PERSON_MAX + 1 });
    const schedules = rows.slice(0, SCHEDULES_OF_PERSON_MAX);
    const share = Math.max(1, Math.floor(limit / Math.max(1, schedules.length)));
    const found = await this.overTime(orgId, schedules, { from, to, at: from, limit: share });
    const isCut = found.schedules.some(({ shifts }) => shifts.length === share && endsBefore(shifts.at(-1), to));
    return {
      person,
      schedules: found.schedules.map(({ schedule, overrides, shifts }) => ({
        schedule,
        shifts: shifts.filter((shift) => shift.userId === userId),
        changedAt: lastChange(schedule, overrides),
      })),
      isComplete: rows.length === schedules.length && !isCut,
    };
  }

  /** Reads at most `limit` shifts that overlap `[from, to)`; null when the organization has no such schedule. */
  async ofSchedule(
    orgId: Id<'org'>,
    scheduleId: Id<'schedule'>,
    { from, to, limit }: TimeRange,
  ): Promise<ScheduleShifts | null> {
    const schedule = await this.#schedules.find(orgId, scheduleId);
    if (schedule === null) return null;
    const remembered = from.subtract({ hours: OVERRIDES_REMEMBERED_HOURS });
    const overrides = await this.#schedules.listOverrides(orgId, [scheduleId], remembered);
    const people = await this.#people.listPeople(orgId, [
      ...rotationOf(schedule).userIds,
      ...overrides.map(({ userId }) => userId),
    ]);
    const isPresent = (userId: Id<'user'>) => people.has(userId);
    const ahead = eachFinalShiftBetween(rotationOf(schedule), overrides, from, to, isPresent, limit);
    const shifts = await collectInTurns(ahead, SHIFTS_A_TURN);
    return { schedule, shifts, people, changedAt: lastChange(schedule, overrides) };
  }
}

function lastChange({ updatedAt }: ScheduleRow, overrides: readonly Override[]): Temporal.Instant {
  return overrides.reduce((last, { createdAt }) => (isAtOrBefore(last, createdAt) ? createdAt : last), updatedAt);
}

function endsBefore(shift: Shift | undefined, to: Temporal.Instant): boolean {
  return shift !== undefined && shift.until !== null && !isAtOrBefore(to, shift.until);
}
