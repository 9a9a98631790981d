import { type Static, Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import {
  EXAMPLE_IDS as IDS,
  EXAMPLE_PEOPLE as PEOPLE,
  IdText,
  nullable,
  StrictObject,
  Timestamp,
} from '#actions/fields.ts';
import { SCHEDULE_EXAMPLE } from '#modules/schedules/view.ts';
import { readWarnings, WARNING_EXAMPLE, WarningView } from '#modules/teams/warnings.ts';
import { peopleOnCall } from '#modules/schedules/decide/layered_shifts.ts';
import { overrideAt } from '#modules/schedules/decide/overrides.ts';
import { nextTurn } from '#kernel/cooperative_task.ts';
import { isAtOrBefore, type Temporal, toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import type { ScheduleOnCall, ScheduleOverTime, TeamOnCall } from '#modules/schedules/store/on_call_reader.ts';
import type { Person } from '#modules/accounts/store/people_store.ts';

const PERSON_FIELDS = { userId: IdText, name: Type.String(), email: Type.String() };

const PersonView = Type.Object(PERSON_FIELDS);

export const ScheduleOnCallView = Type.Object({
  scheduleId: IdText,
  name: Type.String(),
  timezone: Type.String({ description: 'IANA name' }),
  onCall: nullable(PersonView),
  others: Type.Array(PersonView, { description: 'who is on call at the same time as onCall' }),
  layer: nullable(Type.String({ description: 'name of the layer that names them; null without layers' })),
  source: nullable(Type.Enum(['rotation', 'override'], { description: 'null when nobody is on call' })),
  overrideId: nullable(Type.String({ description: 'of the override that puts them on call' })),
  since: nullable(Timestamp),
  until: nullable(
    Type.String({ format: 'date-time', description: 'when nobody is on call: until somebody is; null: for good' }),
  ),
  next: nullable(
    Type.Object(
      { ...PERSON_FIELDS, others: Type.Array(PersonView), at: Timestamp },
      { description: 'who takes over, and when' },
    ),
  ),
});

const AHEAD_DAYS = 28;
/** Limit on the shifts: an hourly rotation of four weeks. */
const SHIFTS_MAX = 24 * AHEAD_DAYS + 1;
const OVERRIDES_MAX = 200;

const ScheduleAheadView = Type.Object({
  ...ScheduleOnCallView.properties,
  shifts: Type.Array(
    Type.Object({
      userId: IdText,
      name: Type.String(),
      source: Type.Enum(['rotation', 'override']),
      since: Timestamp,
      until: nullable(Timestamp),
    }),
    {
      description: `of the next ${AHEAD_DAYS} days with overrides applied, oldest first, one for each of several people at once; nobody is on call between two`,
    },
  ),
  overrides: Type.Array(
    Type.Object({
      overrideId: IdText,
      userId: IdText,
      name: Type.String(),
      layer: nullable(Type.String({ description: 'name of the only layer for which it counts' })),
      startAt: Timestamp,
      endAt: Timestamp,
    }),
    { description: `of the next ${AHEAD_DAYS} days, at most ${OVERRIDES_MAX}` },
  ),
});

export const whoIsOnCall = defineAction({
  name: 'who_is_on_call',
  summary:
    'Tell who is on call for a team now and in the next 28 days, by schedule, with overrides and their ids. until is null when nobody ever takes over; when nobody is on call, it says until when.',
  guidance: 'Use it to learn whom to reach, now or on a day to come.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({ teamId: IdText }),
  result: Type.Object({
    teamId: IdText,
    at: Timestamp,
    onCall: Type.Array(PersonView, { description: 'of all schedules, each person once' }),
    schedules: Type.Array(ScheduleAheadView),
    warnings: Type.Array(WarningView, { description: 'none when every page would reach somebody' }),
  }),
  aliases: [
    'get_on_call',
    'get_oncall',
    'list_on_call',
    'list_overrides',
    'list_schedule_overrides',
    'get_on_call_schedule',
  ],
  digest: ({ schedules, ...team }) => ({
    ...team,
    schedules: schedules.map(({ shifts, ...schedule }) => ({ ...schedule, shifts: shifts.map(toShiftText) })),
  }),
  example: { teamId: IDS.teamId },
  exampleResult: {
    teamId: IDS.teamId,
    at: '2027-02-03T02:05:00.000Z',
    onCall: [PEOPLE.anna],
    schedules: [
      {
        scheduleId: IDS.scheduleId,
        name: SCHEDULE_EXAMPLE.name,
        timezone: SCHEDULE_EXAMPLE.timezone,
        onCall: PEOPLE.anna,
        others: [],
        layer: null,
        source: 'rotation',
        overrideId: null,
        since: '2027-02-01T08:00:00.000Z',
        until: '2027-02-08T08:00:00.000Z',
        next: { ...PEOPLE.bram, others: [], at: '2027-02-08T08:00:00.000Z' },
        shifts: [
          {
            userId: PEOPLE.anna.userId,
            name: PEOPLE.anna.name,
            source: 'rotation',
            since: '2027-02-01T08:00:00.000Z',
            until: '2027-02-08T08:00:00.000Z',
          },
        ],
        overrides: [],
      },
    ],
    warnings: [WARNING_EXAMPLE],
  },
  async handle({ teamId }, context) {
    const { stores, caller, now } = context;
    const team = await stores.teams.get(caller.orgId, teamId);
    const [teamOnCall, members, policies] = await Promise.all([
      stores.onCall.ofTeam(caller.orgId, team.id, now),
      stores.teams.listMembers(caller.orgId, [team.id]),
      stores.policies.listOfTeams(caller.orgId, [team.id]),
    ]);
    const ahead = await stores.onCall.overTime(
      caller.orgId,
      teamOnCall.schedules.map(({ schedule }) => schedule),
      { from: now, to: now.add({ hours: 24 * AHEAD_DAYS }), at: now, limit: SHIFTS_MAX },
    );
    const [warnings = []] = await readWarnings([{ members, policies, onCall: teamOnCall }], context);
    const schedules: Static<typeof ScheduleAheadView>[] = [];
    for (const schedule of ahead.schedules) {
      schedules.push({ ...toScheduleOnCallView(schedule, ahead, now), ...toAheadView(schedule, ahead, now) });
      await nextTurn();
    }
    return {
      teamId: team.id,
      at: toTimestamp(now),
      onCall: peopleOnCall(teamOnCall.schedules.map(({ onCall }) => onCall)).map((userId) =>
        personOf(teamOnCall, userId),
      ),
      schedules,
      warnings,
    };
  },
});

export function toScheduleOnCallView(
  { schedule, layered: { layers, overrides }, onCall: { shift, next } }: ScheduleOnCall,
  people: Pick<TeamOnCall, 'people'>,
  now: Temporal.Instant,
): Static<typeof ScheduleOnCallView> {
  const [first, ...others] = (shift?.userIds ?? []).map((userId) => personOf(people, userId));
  const isPresent = (userId: string) => people.people.has(userId);
  const override = shift?.source === 'override' ? overrideAt(overrides, shift.layerId, now, isPresent) : null;
  return {
    scheduleId: schedule.id,
    name: schedule.name,
    timezone: schedule.timezone,
    onCall: first ?? null,
    others,
    layer: layers.length === 1 ? null : (layers.find(({ id }) => id === shift?.layerId)?.name ?? null),
    source: shift && shift.source,
    overrideId: override?.overrideId ?? null,
    since: toTimestampOrNull(shift && shift.since),
    until: toTimestampOrNull(shift === null ? next && next.at : shift.until),
    next:
      next &&
      toNextView(
        next.userIds.map((userId) => personOf(people, userId)),
        next.at,
      ),
  };
}

function toNextView([first, ...others]: readonly Person[], at: Temporal.Instant) {
  return first === undefined ? null : { ...first, others, at: toTimestamp(at) };
}

/** Returns `2027-02-01T08:00:00.000Z to 2027-02-08T08:00:00.000Z: Anna`, with the source if it is not the rotation. */
function toShiftText({ name, source, since, until }: Static<typeof ScheduleAheadView>['shifts'][number]): string {
  return `${since} to ${until ?? 'the end of time'}: ${name}${source === 'override' ? ' (override)' : ''}`;
}

function toAheadView(
  { shifts, layered: { layers, overrides } }: ScheduleOverTime,
  people: Pick<TeamOnCall, 'people'>,
  now: Temporal.Instant,
): Pick<Static<typeof ScheduleAheadView>, 'shifts' | 'overrides'> {
  const end = now.add({ hours: 24 * AHEAD_DAYS });
  return {
    shifts: shifts.flatMap(({ userIds, source, since, until }) =>
      userIds.map((userId) => ({
        userId,
        name: personOf(people, userId).name,
        source,
        since: toTimestamp(since),
        until: toTimestampOrNull(until),
      })),
    ),
    overrides: overrides
      .filter(({ userId, startAt, endAt }) => {
        return people.people.has(userId) && !isAtOrBefore(end, startAt) && !isAtOrBefore(endAt, now);
      })
      .slice(0, OVERRIDES_MAX)
      .map(({ overrideId, userId, layerId = null, startAt, endAt }) => ({
        overrideId,
        userId,
        name: personOf(people, userId).name,
        layer: layerId === null ? null : (layers.find(({ id }) => id === layerId)?.name ?? null),
        startAt: toTimestamp(startAt),
        endAt: toTimestamp(endAt),
      })),
  };
}

/** Returns the person; everyone who is on call now or next is among the people of the team. */
function personOf({ people }: Pick<TeamOnCall, 'people'>, userId: string): Person {
  const person = people.get(userId);
  if (person === undefined) throw new Error(`${userId} is on call but is not a member of the organization`);
  const { name, email } = person;
  return { userId: person.userId, name, email };
}
