import { type Static, Type } from 'typebox';

import { defineAction, LIST_LIMIT } from '#actions/action_context.ts';
import { EXAMPLE_PEOPLE as PEOPLE } from '#actions/example_ids.ts';
import { IdText, STRICT } from '#actions/fields.ts';
import { POLICY_EXAMPLE } from '#modules/policies/view.ts';
import { SCHEDULE_EXAMPLE } from '#modules/schedules/view.ts';
import { readTeams, toWholeTeamView, WholeTeamView } from '#modules/teams/read_teams.ts';
import { MEMBER_EXAMPLE, TEAM_EXAMPLE } from '#modules/teams/view.ts';
import { readWarnings, WARNING_EXAMPLE } from '#modules/teams/warnings.ts';

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
  input: Type.Object({}, STRICT),
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
    const teams = await context.stores.teams.list(context.caller.orgId, LIST_LIMIT);
    const whole = await readTeams(teams, context);
    const warnings = await readWarnings(whole, context);
    const people = await context.stores.people.listMembers(context.caller.orgId, PEOPLE_MAX);
    return {
      total: await context.stores.teams.countNames(context.caller.orgId),
      people: people.map(({ userId, name, email }) => ({ userId, name, email })),
      teams: whole.map((team, index) => toWholeTeamView(team, warnings[index] ?? [], context)),
    };
  },
});
