import { type Static, Type } from 'typebox';

import { type ActionContext, defineAction, defineOperation, LIST_LIMIT } from '#actions/action_context.ts';
import { EXAMPLE_IDS, EXAMPLE_PEOPLE as PEOPLE, IdText, nullable, StrictObject } from '#actions/fields.ts';
import { idsInput, nameCursorOf, pageInput, pageOf, parseNameCursor, searchInput } from '#actions/list_page.ts';
import { recordOf } from '#kernel/records.ts';
import { RoleName } from '#modules/accounts/view.ts';
import { READINESS_ANSWERS } from '#modules/contacts/decide/readiness_words.ts';
import { POLICY_EXAMPLE } from '#modules/policies/view.ts';
import { SCHEDULE_EXAMPLE } from '#modules/schedules/view.ts';
import {
  MEMBER_EXAMPLE,
  onCallNow,
  PersonOnCallView,
  ReadinessView,
  readReadiness,
  readTeams,
  TEAM_EXAMPLE,
  TEAM_FIELDS,
  toTeamView,
  toWholeTeamView,
  WholeTeamView,
} from '#modules/teams/view.ts';
import type { TeamRow } from '#modules/teams/store.ts';
import { readWarnings, WARNING_EXAMPLE, WarningView } from '#modules/teams/warnings.ts';

/** Limit on the people read, far more than an organization has. */
const PEOPLE_MAX = 10_000;

const ListedTeamsView = Type.Object({
  teams: Type.Array(WholeTeamView),
  total: Type.Integer({ description: 'how many teams there are, also beyond the cut' }),
  people: Type.Array(Type.Object({ userId: IdText, name: Type.String(), email: Type.String() }), {
    description: 'everybody of the organization by name, also who is in no team',
  }),
});

type Listed = Static<typeof ListedTeamsView>;

type ListedStep = Listed['teams'][number]['escalationPolicies'][number]['steps'][number];

/** Limit on the ids shown of the targets of a step, or the people of a rotation. */
const IDS_TOLD = 12;

/** Summarizes teams: each member and step in a line, and by name those who are in no team. */
function digestOfTeams({ teams, total, people }: Static<typeof ListedTeamsView>): object {
  const members = new Set(teams.flatMap((team) => team.members.map(({ userId }) => userId)));
  const idsText = (ids: readonly string[]) =>
    ids.length <= IDS_TOLD ? ids.join(', ') : `${ids.slice(0, IDS_TOLD).join(', ')} and ${ids.length - IDS_TOLD} more`;
  return {
    total,
    teams: teams.map(({ teamId, name, members: teamMembers, schedules, escalationPolicies, warnings }) => ({
      teamId,
      name,
      warnings: warnings.map(({ message }) => message),
      schedules: schedules.map(({ scheduleId, name: called, timezone, rotationType, rotationConfig }) => {
        const { userIds } = rotationConfig;
        const people = { userCount: userIds.length, userIds: userIds.slice(0, IDS_TOLD) };
        return { scheduleId, name: called, timezone, rotationType, ...people };
      }),
      escalationPolicies: escalationPolicies.map(({ policyId, name: called, steps, repeat, hours }) => ({
        policyId,
        name: called,
        steps: steps.map((step) => {
          const { afterMinutes, channels, targetUserIds, needsEverybody } = step;
          const targets = [...detailTexts(step), ...(targetUserIds.length > 0 ? [idsText(targetUserIds)] : [])];
          const everybody = needsEverybody ? '; everybody must acknowledge' : '';
          return `after ${afterMinutes} min by ${channels.join(', ')}: ${targets.join(' and ') || 'nobody'}${everybody}`;
        }),
        ...(repeat && { repeat }),
        ...(hours && { hours }),
      })),
      members: teamMembers.map(({ memberId, userId, name: called, email, phone }) => ({
        memberId,
        userId,
        name: called,
        email,
        phone,
      })),
    })),
    peopleInNoTeam: people.filter(({ userId }) => !members.has(userId)),
  };
}

/** Returns whom a step pages besides the people it names, in words. */
function detailTexts({ useSchedule, scheduleIds, turn, members, policyId }: ListedStep): string[] {
  const of = scheduleIds === undefined ? '' : ` by ${scheduleIds.join(', ')}`;
  return [
    ...(useSchedule ? [`${turn === 'next' ? 'whose turn follows' : 'whoever is on call'}${of}`] : []),
    ...(members === undefined ? [] : [`${members.inTurn ? 'one member in turn' : 'all members'} of ${members.teamId}`]),
    ...(policyId === undefined ? [] : [`the steps of ${policyId}`]),
  ];
}

const namesOf = (name: string, email: string): readonly string[] => [name, email, email.split('@')[0] ?? email];

const LISTS = {
  team: ({ teams }: Listed) => teams.map(({ teamId, name }) => ({ id: teamId, names: [name], links: [] })),
  user: ({ people }: Listed) =>
    people.map(({ userId, name, email }) => ({ id: userId, names: namesOf(name, email), links: [] })),
  member: ({ teams }: Listed) =>
    teams.flatMap(({ teamId, members }) =>
      members.map(({ memberId, userId, name, email, phone }) => {
        return { id: memberId, names: [...namesOf(name, email), phone ?? name], links: [userId, teamId] };
      }),
    ),
  schedule: ({ teams }: Listed) =>
    teams.flatMap(({ teamId, schedules }) =>
      schedules.map(({ scheduleId, name }) => ({ id: scheduleId, names: [name], links: [teamId] })),
    ),
  policy: ({ teams }: Listed) =>
    teams.flatMap(({ teamId, escalationPolicies }) =>
      escalationPolicies.map(({ policyId, name }) => ({ id: policyId, names: [name], links: [teamId] })),
    ),
} as const;

export const listTeams = defineAction({
  name: 'list_teams',
  summary:
    'List the on-call teams with members, schedules and escalation policies, and the people of the organization: the source of their ids.',
  guidance: 'Call it before changing any of them.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({}),
  result: ListedTeamsView,
  lists: LISTS,
  aliases: [
    'get_team',
    'get_teams',
    'list_members',
    'list_team_members',
    'list_users',
    'list_people',
    'list_schedules',
    'get_schedule',
    'list_escalation_policies',
    'get_escalation_policy',
    'list_policies',
    'find_user',
    'get_user',
  ],
  digest: digestOfTeams,
  example: {},
  exampleResult: {
    teams: [
      {
        ...TEAM_EXAMPLE,
        members: [MEMBER_EXAMPLE],
        schedules: [SCHEDULE_EXAMPLE],
        escalationPolicies: [POLICY_EXAMPLE],
        warnings: [WARNING_EXAMPLE],
      },
    ],
    total: 1,
    people: [PEOPLE.anna],
  },
  async handle(_input, context) {
    const { stores, caller } = context;
    const [teams, people, total] = await Promise.all([
      stores.teams.list(caller.orgId, LIST_LIMIT),
      stores.people.listMembers(caller.orgId, PEOPLE_MAX),
      stores.teams.countNames(caller.orgId),
    ]);
    const whole = await readTeams(teams, context);
    const warnings = await readWarnings(whole, context);
    return {
      total,
      people: people.map(({ userId, name, email }) => ({ userId, name, email })),
      teams: whole.map((team, index) => toWholeTeamView(team, warnings[index] ?? [], context)),
    };
  },
});

const LIMIT = 20;
const LIMIT_MAX = 50;

const FoundTeamView = Type.Object({
  ...TEAM_FIELDS,
  memberCount: Type.Integer(),
  scheduleCount: Type.Integer(),
  policyCount: Type.Integer(),
  onCall: Type.Array(PersonOnCallView, { description: 'who is on call now' }),
  readiness: Type.Object(
    recordOf(READINESS_ANSWERS, () => Type.Integer()),
    { description: 'how many members would be woken by a page' },
  ),
  warnings: Type.Array(WarningView),
});

export const searchTeams = defineOperation({
  name: 'search_teams',
  summary: 'Find teams page by page, by name, with who is on call and how many members a page would wake.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({
    text: searchInput('part of the name, or of the name or mail address of a member'),
    ...pageInput(LIMIT, LIMIT_MAX),
  }),
  result: Type.Object({ teams: Type.Array(FoundTeamView), nextCursor: nullable(Type.String()) }),
  example: { text: 'pay', cursor: nameCursorOf({ name: 'Payments', id: EXAMPLE_IDS.teamId }), limit: 20 },
  async handle({ text, cursor, limit = LIMIT }, context) {
    const page = await context.stores.teams.search(context.caller.orgId, text?.trim(), {
      after: cursor === undefined ? null : parseNameCursor('team', cursor),
      limit: limit + 1,
    });
    const { shown, nextCursor } = pageOf(page, limit, nameCursorOf);
    return { teams: await readViews(shown, context), nextCursor };
  },
});

async function readViews(teams: readonly TeamRow[], context: ActionContext): Promise<Static<typeof FoundTeamView>[]> {
  const whole = await readTeams(teams, context);
  const warnings = await readWarnings(whole, context);
  const readinessOf = await readReadiness(
    whole.flatMap(({ members }) => members),
    context,
  );
  return whole.map((team, index) => {
    const answers = team.members.map((member) => readinessOf(member, member).answer);
    return {
      ...toTeamView(team.team),
      memberCount: team.members.length,
      scheduleCount: team.onCall.schedules.length,
      policyCount: team.policies.length,
      onCall: onCallNow(team),
      readiness: recordOf(READINESS_ANSWERS, (wanted) => answers.filter((answer) => answer === wanted).length),
      warnings: warnings[index] ?? [],
    };
  });
}

const NAMES = 20;
const NAMES_MAX = 200;

export const searchTeamNames = defineOperation({
  name: 'search_team_names',
  summary: 'Find teams by a part of their name, or by their ids, page by page: what is chosen from.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({
    text: searchInput('part of the name'),
    teamIds: idsInput(NAMES_MAX),
    ...pageInput(NAMES, NAMES_MAX),
  }),
  result: Type.Object({
    teams: Type.Array(Type.Object({ teamId: IdText, name: Type.String() })),
    total: Type.Integer({ description: 'how many match' }),
    nextCursor: nullable(Type.String()),
  }),
  example: {
    text: 'pay',
    teamIds: ['team_01k9z8g5m6f0rbn3w8d2y7k4qf'],
    cursor: nameCursorOf({ name: 'Payments', id: EXAMPLE_IDS.teamId }),
    limit: 20,
  },
  async handle({ text, teamIds, cursor, limit = NAMES }, { caller, stores }) {
    const wanted = { text: text?.trim(), teamIds };
    const after = cursor === undefined ? null : parseNameCursor('team', cursor);
    const [page, total] = await Promise.all([
      stores.teams.searchNames(caller.orgId, wanted, { after, limit: limit + 1 }),
      stores.teams.countNames(caller.orgId, wanted),
    ]);
    const { shown, nextCursor } = pageOf(page, limit, nameCursorOf);
    return { teams: shown.map(({ id, name }) => ({ teamId: id, name })), total, nextCursor };
  },
});

const WITHOUT_TEAM = 50;
const WITHOUT_TEAM_MAX = 200;

const PersonView = Type.Object({
  userId: IdText,
  name: Type.String(),
  email: Type.String(),
  role: RoleName,
  readiness: ReadinessView,
});

/**
 * Finds people who are in no team. A step or an override may name them all the same: then they are reached as they have
 * said for other teams.
 */
export const searchPeopleWithoutTeam = defineOperation({
  name: 'search_people_without_team',
  summary: 'Find the people of the organization who are in no team, page by page, by name.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({
    text: searchInput('part of the name or of the mail address'),
    ...pageInput(WITHOUT_TEAM, WITHOUT_TEAM_MAX),
  }),
  result: Type.Object({ people: Type.Array(PersonView), nextCursor: nullable(Type.String()) }),
  example: { text: 'ann', cursor: nameCursorOf({ name: 'Anna', id: EXAMPLE_IDS.userId }), limit: 20 },
  async handle({ text, cursor, limit = WITHOUT_TEAM }, context) {
    const wanted = { text: text?.trim(), isWithoutTeam: true };
    const page = await context.stores.people.search(context.caller.orgId, wanted, {
      after: cursor === undefined ? null : parseNameCursor('user', cursor),
      limit: limit + 1,
    });
    const { shown, nextCursor } = pageOf(page, limit, (last) => nameCursorOf({ name: last.name, id: last.userId }));
    const readinessOf = await readReadiness(shown, context);
    return {
      people: shown.map((person) => {
        const { userId, name, email, role } = person;
        return { userId, name, email, role, readiness: readinessOf(person, null) };
      }),
      nextCursor,
    };
  },
});
