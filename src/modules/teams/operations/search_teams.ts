import { type Static, Type } from 'typebox';

import { type ActionContext, defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { nullable, STRICT } from '#actions/fields.ts';
import { nameCursorOf, pageInput, pageOf, parseNameCursor, searchInput } from '#actions/list_page.ts';
import { onCallNow, PersonOnCallView, readTeams } from '#modules/teams/read_teams.ts';
import { readReadiness } from '#modules/teams/readiness_view.ts';
import { TEAM_FIELDS, toTeamView } from '#modules/teams/view.ts';
import { readWarnings, WarningView } from '#modules/teams/warnings.ts';
import { READINESS_ANSWERS } from '#modules/contacts/decide/readiness_words.ts';
import { recordOf } from '#kernel/record_of.ts';
import type { TeamRow } from '#modules/teams/store.ts';

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

export const searchTeams = defineAction({
  name: 'search_teams',
  consoleOnly: true,
  summary: 'Find teams page by page, by name, with who is on call and how many members a page would wake.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object(
    {
      text: searchInput('part of the name, or of the name or mail address of a member'),
      ...pageInput(LIMIT, LIMIT_MAX),
    },
    STRICT,
  ),
  result: Type.Object({ teams: Type.Array(FoundTeamView), nextCursor: nullable(Type.String()) }),
  example: { text: 'pay', cursor: nameCursorOf({ name: 'Payments', id: EXAMPLE_IDS.teamId }), limit: 20 },
  async handle({ text, cursor, limit = LIMIT }, context) {
    const page = await context.stores.teams.search(context.caller.orgId, text?.trim(), {
      after: cursor === undefined ? null : parseNameCursor('team', cursor),
      limit: limit + 1,
    });
    const { shown, nextCursor } = pageOf(page, limit, nameCursorOf);
    return { teams: await readFound(shown, context), nextCursor };
  },
});

async function readFound(teams: readonly TeamRow[], context: ActionContext): Promise<Static<typeof FoundTeamView>[]> {
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
