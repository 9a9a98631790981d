import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { IdText, nullable, STRICT } from '#actions/fields.ts';
import { idsInput, nameCursorOf, pageInput, pageOf, parseNameCursor, searchInput } from '#actions/list_page.ts';

const LIMIT = 20;
const LIMIT_MAX = 200;

export const searchTeamNames = defineAction({
  name: 'search_team_names',
  consoleOnly: true,
  summary: 'Find teams by a part of their name, or by their ids, page by page: what is chosen from.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object(
    {
      text: searchInput('part of the name'),
      teamIds: idsInput(LIMIT_MAX),
      ...pageInput(LIMIT, LIMIT_MAX),
    },
    STRICT,
  ),
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
  async handle({ text, teamIds, cursor, limit = LIMIT }, { caller, stores }) {
    const wanted = { text: text?.trim(), teamIds };
    const page = await stores.teams.searchNames(caller.orgId, wanted, {
      after: cursor === undefined ? null : parseNameCursor('team', cursor),
      limit: limit + 1,
    });
    const { shown, nextCursor } = pageOf(page, limit, nameCursorOf);
    return {
      teams: shown.map(({ id, name }) => ({ teamId: id, name })),
      total: await stores.teams.countNames(caller.orgId, wanted),
      nextCursor,
    };
  },
});
