import { type Static, Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import type { Id } from '#kernel/ids.ts';
import { keysOf } from '#kernel/records.ts';
import { toTimestamp } from '#kernel/time.ts';
import { callerUser } from '#modules/accounts/view.ts';
import { READINESS_ANSWERS, READINESS_REASONS } from '#modules/contacts/decide/readiness_words.ts';
import { finalShiftsBetween } from '#modules/schedules/decide/layered_shifts.ts';
import { ShiftView, toShiftView } from '#modules/schedules/operations/get_on_call_timeline.ts';
import { ScheduleOnCallView, toScheduleOnCallView } from '#modules/schedules/operations/who_is_on_call.ts';
import { OwnShiftView, readOwnShifts } from '#modules/schedules/own_shifts.ts';
import type { ScheduleOnCall, TeamOnCall } from '#modules/schedules/store/on_call_reader.ts';
import { readReadiness } from '#modules/teams/view.ts';

/** Progress of the organization from nothing to its first page. */
const SetupProgressView = Type.Object({
  hasService: Type.Boolean(),
  hasData: Type.Boolean({ description: 'some service has sent metrics or exceptions that are still kept' }),
  hasTeam: Type.Boolean({ description: 'there is a team, complete or not' }),
  hasTeamWithPolicy: Type.Boolean({ description: 'there is a team with a member and an escalation policy' }),
  canBeReached: Type.Boolean({ description: 'the caller has a phone number or a subscribed browser' }),
  hasPagingRule: Type.Boolean({
    description: 'there is an enabled alert rule, or a route of alerts of other tools, with an escalation policy',
  }),
  hasSentMessage: Type.Boolean({
    description: 'a message was sent to somebody, a test included, and not to the phone simulator',
  }),
  simulatesPhones: Type.Boolean({ description: 'SMS and calls go to the phone simulator, and so to nobody' }),
  firstServiceId: nullable(IdText),
  paging: nullable(
    Type.Object({ serviceId: IdText, policyId: IdText }, { description: 'of a rule that pages somebody' }),
  ),
});

async function readSetupProgress({
  caller,
  stores,
  metrics,
  installation,
}: Pick<ActionContext, 'caller' | 'stores' | 'metrics' | 'installation'>): Promise<Static<typeof SetupProgressView>> {
  const userId = callerUser(caller);
  const { simulatedChannels, simulatedIds } = installation;
  const { hasExceptions, ...parts } = await stores.setup.find(caller.orgId, simulatedChannels, simulatedIds);
  const phones = await stores.teams.listPhonesOf(caller.orgId, userId);
  const serviceIds = await stores.services.listIds(caller.orgId, hasExceptions ? 1 : null);
  const browsers = phones.length > 0 ? [] : await stores.pushSubscriptions.listOf(caller.orgId, userId);
  return {
    ...parts,
    hasData: hasExceptions || (await metrics.hasAny(serviceIds)),
    canBeReached: phones.length > 0 || browsers.length > 0,
    simulatesPhones: simulatedChannels.size > 0,
    firstServiceId: serviceIds[0] ?? null,
    paging: await stores.setup.findPagingPair(caller.orgId),
  };
}

const HomeReadinessView = Type.Object(
  { answer: Type.Enum([...READINESS_ANSWERS]), reasons: Type.Array(Type.Enum(keysOf(READINESS_REASONS))) },
  {
    description:
      'whether a page would wake the caller: in the teams that they are on call for, else in the worst of theirs',
  },
);

const FROM_WORST = ['no', 'unproved', 'yes'] as const;

/** Judges how the caller is reached by the settings of each of these teams, and returns the worst. */
async function readHomeReadiness(
  userId: Id<'user'>,
  onCallTeamIds: ReadonlySet<string>,
  context: ActionContext,
): Promise<Static<typeof HomeReadinessView>> {
  const { caller, stores } = context;
  const person = (await stores.people.listReachable(caller.orgId, [userId])).get(userId);
  if (person === undefined) throw new Error('the caller is not a member of the organization');
  const readinessOf = await readReadiness([person], context);
  const places = await stores.teams.listPlacesOf(caller.orgId, userId);
  const isMember = new Set<string>(places.map(({ teamId }) => teamId));
  const onCallFor = places.filter(({ teamId }) => onCallTeamIds.has(teamId));
  const isStandIn = [...onCallTeamIds].some((teamId) => !isMember.has(teamId));
  const judged = (onCallTeamIds.size > 0 ? onCallFor : places).map((place) => readinessOf(person, place));
  if (isStandIn || judged.length === 0) judged.push(readinessOf(person, null));
  const [worst] = judged.toSorted((a, b) => FROM_WORST.indexOf(a.answer) - FROM_WORST.indexOf(b.answer));
  if (worst === undefined) throw new Error('nothing was judged');
  return { answer: worst.answer, reasons: worst.reasons };
}

const HOURS_AHEAD = 24;
/** Limit on the schedules on the home page; the on-call page shows more. */
const SCHEDULES_MAX = 20;
const OWN_SHIFTS_MAX = 5;
/** Limit on the shifts of a day: enough for an hourly rotation with overrides. */
const SHIFTS_A_DAY_MAX = 60;

const HomeScheduleView = Type.Object({
  ...ScheduleOnCallView.properties,
  teamId: IdText,
  teamName: Type.String(),
  color: nullable(Type.Integer({ description: 'number of the colour of onCall' })),
  shifts: Type.Array(
    Type.Object({
      ...ShiftView.properties,
      name: Type.String({ description: 'of everybody on call at once' }),
      color: Type.Integer({ description: 'number of the colour of the first of them' }),
    }),
    { description: `of the next ${HOURS_AHEAD} hours; nobody is on call between them` },
  ),
});

export const getHome = defineOperation({
  name: 'get_home',
  summary:
    'Show who is on call in the next 24 hours, when the caller is, and how far the organization is set up: all that the first page shows beside incidents.',
  permission: 'oncall:view',
  effect: 'read',
  result: Type.Object({
    at: Timestamp,
    schedules: Type.Array(HomeScheduleView, {
      description: `at most ${SCHEDULES_MAX}; first those that the caller is on call in or next, then those of their teams`,
    }),
    scheduleCount: Type.Integer({ minimum: 0, description: 'of the organization' }),
    ownShifts: Type.Array(OwnShiftView, { description: 'of the caller, the current ones first, then the next ones' }),
    readiness: HomeReadinessView,
    setup: SetupProgressView,
  }),
  async handle(_input, context) {
    const { caller, stores, now } = context;
    const userId = callerUser(caller);
    const places = await stores.teams.listPlacesOf(caller.orgId, userId);
    const ownTeams = new Set<string>(places.map(({ teamId }) => teamId));
    const { schedules, people, teamNameOf } = await readSchedules(userId, [...ownTeams], context);
    const rank = ({ onCall, schedule }: ScheduleOnCall): number => {
      if (onCall.shift?.userIds.includes(userId)) return 0;
      if (onCall.next?.userIds.includes(userId)) return 1;
      return ownTeams.has(schedule.teamId) ? 2 : 3;
    };
    const all = schedules.map((schedule) => ({ ...schedule, people, teamName: teamNameOf(schedule) }));
    const onCallTeams = new Set<string>(
      schedules.flatMap(({ onCall, schedule }) => (onCall.shift?.userIds.includes(userId) ? schedule.teamId : [])),
    );
    const shown = all.toSorted((a, b) => rank(a) - rank(b)).slice(0, SCHEDULES_MAX);
    return {
      at: toTimestamp(now),
      schedules: shown.map((schedule) => toView(schedule, now)),
      scheduleCount: await stores.schedules.count(caller.orgId),
      ownShifts: readOwnShifts(all, userId, now, OWN_SHIFTS_MAX),
      readiness: await readHomeReadiness(userId, onCallTeams, context),
      setup: await readSetupProgress(context),
    };
  },
});

/** Reads the schedules that name the caller, and as many of their teams and of all others as are shown. */
async function readSchedules(
  userId: Id<'user'>,
  teamIds: readonly string[],
  { caller: { orgId }, stores, now }: ActionContext,
): Promise<TeamOnCall & { teamNameOf(schedule: ScheduleOnCall): string }> {
  const first = { offset: 0, limit: SCHEDULES_MAX };
  const rows = [
    ...(await stores.schedules.listNaming(orgId, userId, { after: now })),
    ...(await stores.schedules.listPage(orgId, { teamIds }, first)),
    ...(await stores.schedules.listPage(orgId, {}, first)),
  ];
  const unique = [...new Map(rows.map((row) => [row.id, row])).values()];
  const teams = await stores.teams.findAll(orgId, [...new Set(unique.map(({ teamId }) => teamId))]);
  const nameOf = new Map(teams.map(({ id, name }) => [id, name]));
  return {
    ...(await stores.onCall.ofSchedulesAt(orgId, unique, now)),
    teamNameOf: ({ schedule }) => nameOf.get(schedule.teamId) ?? '',
  };
}

function toView(
  shownSchedule: ScheduleOnCall & Pick<TeamOnCall, 'people'> & { readonly teamName: string },
  now: ActionContext['now'],
): Static<typeof HomeScheduleView> {
  const { schedule, layered, onCall, people, teamName } = shownSchedule;
  const to = now.add({ hours: HOURS_AHEAD });
  const isPresent = (userId: string): boolean => people.has(userId);
  const shifts = finalShiftsBetween(layered, now, to, isPresent, SHIFTS_A_DAY_MAX);
  const colorOf = ([first = '']: readonly string[] = []) => people.get(first)?.color;
  return {
    ...toScheduleOnCallView(shownSchedule, { people }, now),
    teamId: schedule.teamId,
    teamName,
    color: colorOf(onCall.shift?.userIds) ?? null,
    shifts: shifts.map((shift) => ({
      ...toShiftView(shift),
      color: colorOf(shift.userIds) ?? 0,
      name: new Intl.ListFormat('en').format(shift.userIds.map((userId) => people.get(userId)?.name ?? '')),
    })),
  };
}
