import { Type } from 'typebox';

import { defineAction, LIST_LIMIT } from '#actions/action_context.ts';
import { EXAMPLE_PEOPLE as PEOPLE } from '#actions/example_people.ts';
import { CLOSED, IdText } from '#actions/fields.ts';
import { POLICY_EXAMPLE } from '#actions/policies/view.ts';
import { SCHEDULE_EXAMPLE } from '#actions/schedules/view.ts';
import { readTeams, toWholeTeamView, WholeTeamView } from '#actions/teams/read_teams.ts';
import { TEAM_EXAMPLE, MEMBER_EXAMPLE } from '#actions/teams/view.ts';
import { readWarnings, WARNING_EXAMPLE } from '#actions/teams/warnings.ts';

/** Far more than an organization has. */
const PEOPLE_MAX = 10_000;

export const listTeams = defineAction({
  name: 'list_teams',
  summary:
    'List the on-call teams with members, schedules and escalation policies, and the people of the organization: the source of their ids.',
  guidance: 'Call it before changing any of them.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object({}, CLOSED),
  result: Type.Object({
    teams: Type.Array(WholeTeamView),
    people: Type.Array(Type.Object({ userId: IdText, name: Type.String(), email: Type.String() }), {
      description: 'everybody of the organization by name, also who is in no team',
    }),
  }),
  showsIds: ['team', 'member', 'user', 'schedule', 'policy'],
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
    people: [PEOPLE.anna],
  },
  async handle(_input, context) {
    const teams = await context.stores.teams.list(context.caller.orgId, LIST_LIMIT);
    const whole = await readTeams(teams, context);
    const warnings = await readWarnings(whole, context);
    const people = await context.stores.people.listMembers(context.caller.orgId, PEOPLE_MAX);
    return {
      people: people.map(({ userId, name, email }) => ({ userId, name, email })),
      teams: whole.map((team, index) => toWholeTeamView(team, warnings[index] ?? [])),
    };
  },
});
