import type { Override } from '#modules/schedules/decide/overrides.ts';
import { collectInTurns, inSlices, nextTurn, type Steps } from '#kernel/cooperative_task.ts';
import { asId, type Id } from '#kernel/ids.ts';
import { isAtOrBefore, type Temporal } from '#kernel/time.ts';
import { ZoneClocks } from '#kernel/zone_clock.ts';
import {
  eachFinalShiftBetween,
  type LayeredSchedule,
  type OnCall,
  onCallOfSchedule,
  type Shift,
} from '#modules/schedules/decide/layered_shifts.ts';
import { HolidayCalendarStore } from '#modules/schedules/store/holiday_calendar_store.ts';
import { PeopleStore, type ShownPerson } from '#modules/accounts/store/people_store.ts';
import { layeredOf, type ScheduleRow, ScheduleStore } from '#modules/schedules/store/schedule_store.ts';
import type { Session } from '#storage/postgres/database.ts';

export interface ScheduleOnCall {
  readonly schedule: ScheduleRow;
  /** Its layers, and the overrides that had not ended long ago. */
  readonly layered: LayeredSchedule;
  readonly onCall: OnCall;
}

export interface TeamOnCall {
  /** Schedules of the team, oldest first. */
  readonly schedules: readonly ScheduleOnCall[];
  /** Everyone whom the schedules name and who belongs to the organization. */
  readonly people: ReadonlyMap<string, ShownPerson>;
}

/** A schedule over some time. */
export interface ScheduleShifts {
  readonly schedule: ScheduleRow;
  readonly layered: LayeredSchedule;
  /** Oldest first, with their true limits, which may lie outside. */
  readonly shifts: readonly Shift[];
  readonly people: ReadonlyMap<string, ShownPerson>;
  /** Time at which the schedule was last changed, or an override laid over it. */
  readonly changedAt: Temporal.Instant;
}

export interface ShiftsOfPerson {
  readonly person: ShownPerson;
  /** Schedules that name the person, oldest first, each with the person's shifts only. */
  readonly schedules: readonly Omit<ScheduleShifts, 'people'>[];
  /** Everyone whom these schedules name and who belongs to the organization. */
  readonly people: ReadonlyMap<string, ShownPerson>;
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

/** Number of shifts found in a turn, each of which takes some 20 µs, most of it in the rules of time zones. */
const SHIFTS_A_TURN = 200;

/** The schedules of one person that are looked at. */
const SCHEDULES_OF_PERSON_MAX = 50;

/** Reads who is on call: the rows that `modules/schedules/decide` decides from, and its decision. */
export class OnCallReader {
  readonly #schedules: ScheduleStore;
  readonly #people: PeopleStore;
  readonly #calendars: HolidayCalendarStore;

  constructor(session: Session) {
    this.#schedules = new ScheduleStore(session);
    this.#people = new PeopleStore(session);
    this.#calendars = new HolidayCalendarStore(session);
  }

  /** Reads one team as `ofTeams` does. */
  async ofTeam(orgId: Id<'org'>, teamId: Id<'team'>, at: Temporal.Instant): Promise<TeamOnCall> {
    return (await this.ofTeams(orgId, [teamId], at))(teamId);
  }

  /**
   * Reads teams in three or four queries, however many teams and schedules there are. People who have left the organization are
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

  /** Reads who is on call in these schedules, in their order, in two or three queries however many there are. */
  async ofSchedulesAt(orgId: Id<'org'>, schedules: readonly ScheduleRow[], at: Temporal.Instant): Promise<TeamOnCall> {
    const { layered, people } = await this.#readLayered(orgId, schedules, at);
    const isPresent = (userId: Id<'user'>) => people.has(userId);
    return { schedules: await inSlices(eachOnCall()), people };

    function* eachOnCall(): Steps<ScheduleOnCall[]> {
      const schedules: ScheduleOnCall[] = [];
      for (const of of layered) {
        schedules.push({ ...of, onCall: onCallOfSchedule(of.layered, at, isPresent) });
        yield;
      }
      return schedules;
    }
  }

  /**
   * Reads at most `limit` shifts of each schedule that overlap `[from, to)`, and who is on call at `at`, by the same
   * rows and the same decisions. Runs two or three queries, however many schedules there are.
   */
  async overTime(
    orgId: Id<'org'>,
    schedules: readonly ScheduleRow[],
    { from, to, at, limit }: TimeRange & { readonly at: Temporal.Instant },
  ): Promise<{ schedules: ScheduleOverTime[]; people: ReadonlyMap<string, ShownPerson> }> {
    const earliest = isAtOrBefore(from, at) ? from : at;
    const { layered, people } = await this.#readLayered(orgId, schedules, earliest);
    const isPresent = (userId: Id<'user'>) => people.has(userId);
    const timelines: ScheduleOverTime[] = [];
    for (const of of layered) {
      const onCall = onCallOfSchedule(of.layered, at, isPresent);
      const ahead = eachFinalShiftBetween(of.layered, from, to, isPresent, limit);
      const shifts = await collectInTurns(ahead, SHIFTS_A_TURN);
      timelines.push({ ...of, onCall, shifts });
      await nextTurn();
    }
    return { schedules: timelines, people };
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
    const timeline = await this.overTime(orgId, schedules, { from, to, at: from, limit: share });
    const isCut = timeline.schedules.some(({ shifts }) => shifts.length === share && endsBefore(shifts.at(-1), to));
    return {
      person,
      schedules: timeline.schedules.map(({ schedule, layered, shifts }) => ({
        schedule,
        layered,
        shifts: shifts.filter((shift) => shift.userIds.includes(userId)),
        changedAt: lastChange(schedule, layered.overrides),
      })),
      people: timeline.people,
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
    const { layered: read, people } = await this.#readLayered(orgId, [schedule], from);
    const [of] = read;
    if (of === undefined) return null;
    const ahead = eachFinalShiftBetween(of.layered, from, to, (userId) => people.has(userId), limit);
    const shifts = await collectInTurns(ahead, SHIFTS_A_TURN);
    return { ...of, shifts, people, changedAt: lastChange(schedule, of.layered.overrides) };
  }

  /** Reads everything that decides who is on call from about this time on, with the people whom it names. */
  async #readLayered(
    orgId: Id<'org'>,
    schedules: readonly ScheduleRow[],
    from: Temporal.Instant,
  ): Promise<{
    layered: { readonly schedule: ScheduleRow; readonly layered: LayeredSchedule }[];
    people: ReadonlyMap<string, ShownPerson>;
  }> {
    const overrides = await this.#schedules.listOverrides(
      orgId,
      schedules.map(({ id }) => id),
      from.subtract({ hours: OVERRIDES_REMEMBERED_HOURS }),
    );
    const overridesOf = Map.groupBy(overrides, ({ scheduleId }) => scheduleId);
    const clocks = new ZoneClocks();
    const holidays = await this.#calendars.listDates(orgId, calendarsOf(schedules));
    const layered = schedules.map((schedule) => {
      const overrides = overridesOf.get(schedule.id) ?? [];
      return { schedule, layered: layeredOf(schedule, overrides, holidays, clocks.of(schedule.timezone)) };
    });
    const people = await this.#people.listPeople(
      orgId,
      layered.flatMap((of) => peopleOf(of.layered)),
    );
    return { layered, people };
  }
}

function calendarsOf(schedules: readonly ScheduleRow[]): Id<'calendar'>[] {
  const ids = schedules.flatMap(({ layers }) => (layers ?? []).map(({ holidays }) => holidays?.calendarId));
  return [...new Set(ids)].flatMap((id) => (id === undefined ? [] : asId('calendar', id)));
}

function peopleOf({ layers, overrides }: LayeredSchedule): Id<'user'>[] {
  return [
    ...layers.flatMap(({ turns, carried }) => [
      ...turns.flatMap(({ userIds }) => userIds),
      ...(carried?.userIds ?? []),
    ]),
    ...overrides.map(({ userId }) => userId),
  ];
}

function lastChange({ updatedAt }: ScheduleRow, overrides: readonly Override[]): Temporal.Instant {
  return overrides.reduce((last, { createdAt }) => (isAtOrBefore(last, createdAt) ? createdAt : last), updatedAt);
}

function endsBefore(shift: Shift | undefined, to: Temporal.Instant): boolean {
  return shift !== undefined && shift.until !== null && !isAtOrBefore(to, shift.until);
}
