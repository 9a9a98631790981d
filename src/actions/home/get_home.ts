import { type Static, Type } from 'typebox';

import { type ActionContext, defineAction, LIST_LIMIT } from '#actions/action_context.ts';
import { CLOSED, IdText, nullable, Timestamp } from '#actions/fields.ts';
import { readSetupProgress, SetupProgressView } from '#actions/home/setup_progress.ts';
import { callerUser } from '#actions/me/caller_user.ts';
import { OwnShiftView, readOwnShifts } from '#actions/me/own_shifts.ts';
import { ScheduleOnCallView, toScheduleOnCallView } from '#actions/schedules/who_is_on_call.ts';
import { finalShiftsBetween } from '#core/oncall/final_shifts.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import type { ScheduleOnCall, TeamOnCall } from '#storage/postgres/on_call_reader.ts';
import { rotationOf } from '#storage/postgres/schedule_store.ts';
import type { TeamRow } from '#storage/postgres/team_store.ts';

const HOURS_AHEAD = 24;
/** More are shown on the page for on-call. */
const SCHEDULES_MAX = 20;
const OWN_SHIFTS_MAX = 5;
/** An hourly rotation with overrides. */
const SHIFTS_A_DAY_MAX = 60;

const HomeScheduleView = Type.Object({
  ...ScheduleOnCallView.properties,
  teamId: IdText,
  teamName: Type.String(),
  shifts: Type.Array(
    Type.Object({
      userId: IdText,
      name: Type.String(),
      since: Timestamp,
      until: nullable(Timestamp),
      source: Type.Enum(['rotation', 'override']),
    }),
    { description: `of the next ${HOURS_AHEAD} hours; nobody is on call between them` },
  ),
});

export const getHome = defineAction({
  name: 'get_home',
  consoleOnly: true,
  summary:
    'Show who is on call in the next 24 hours, when the caller is, and how far the organization is set up: all that the first page shows beside incidents.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object({}, CLOSED),
  result: Type.Object({
    at: Timestamp,
    schedules: Type.Array(HomeScheduleView, {
      description: `at most ${SCHEDULES_MAX}; first those that the caller is on call in or next, then those of their teams`,
    }),
    scheduleCount: Type.Integer({ minimum: 0, description: 'of the organization' }),
    ownShifts: Type.Array(OwnShiftView, { description: 'of the caller, the current ones first, then the next ones' }),
    setup: SetupProgressView,
  }),
  example: {},
  async handle(_input, context) {
    const { caller, stores, now } = context;
    const userId = callerUser(caller);
    const teams = await stores.teams.list(caller.orgId, LIST_LIMIT);
    const onCallOf = await stores.onCall.ofTeams(
      caller.orgId,
      teams.map(({ id }) => id),
      now,
    );
    const places = await stores.teams.listPlacesOf(caller.orgId, userId);
    const ownTeams = new Set<string>(places.map(({ teamId }) => teamId));
    const all = teams.flatMap((team) => {
      const { schedules, people } = onCallOf(team.id);
      return schedules.map((found) => ({ team, found, people }));
    });
    const rank = ({ team, found: { onCall } }: (typeof all)[number]): number => {
      if (onCall.shift?.userId === userId) return 0;
      if (onCall.next?.userId === userId) return 1;
      return ownTeams.has(team.id) ? 2 : 3;
    };
    const shown = all.toSorted((a, b) => rank(a) - rank(b)).slice(0, SCHEDULES_MAX);
    const schedules = all.map(({ team, found, people }) => ({ ...found, people, teamName: team.name }));
    return {
      at: toTimestamp(now),
      schedules: shown.map(({ team, found, people }) => toView(team, found, people, now)),
      scheduleCount: all.length,
      ownShifts: readOwnShifts(schedules, userId, now, OWN_SHIFTS_MAX),
      setup: await readSetupProgress(context),
    };
  },
});

function toView(
  team: TeamRow,
  found: ScheduleOnCall,
  people: TeamOnCall['people'],
  now: ActionContext['now'],
): Static<typeof HomeScheduleView> {
  const { schedule, overrides } = found;
  const to = now.add({ hours: HOURS_AHEAD });
  const isPresent = (userId: string): boolean => people.has(userId);
  const shifts = finalShiftsBetween(rotationOf(schedule), overrides, now, to, isPresent, SHIFTS_A_DAY_MAX);
  return {
    ...toScheduleOnCallView(found, { people }, now),
    teamId: team.id,
    teamName: team.name,
    shifts: shifts.map(({ userId, since, until, source }) => ({
      userId,
      name: people.get(userId)?.name ?? '',
      since: toTimestamp(since),
      until: toTimestampOrNull(until),
      source,
    })),
  };
}
