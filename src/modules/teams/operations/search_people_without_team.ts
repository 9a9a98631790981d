import { Type } from 'typebox';

import { RoleName } from '#modules/accounts/view.ts';
import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { IdText, nullable, STRICT } from '#actions/fields.ts';
import { nameCursorOf, pageInput, pageOf, parseNameCursor, searchInput } from '#actions/list_page.ts';
import { ReadinessView, readReadiness } from '#modules/teams/readiness_view.ts';

const LIMIT = 50;
const LIMIT_MAX = 200;

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
export const searchPeopleWithoutTeam = defineAction({
  name: 'search_people_without_team',
  consoleOnly: true,
  summary: 'Find the people of the organization who are in no team, page by page, by name.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object(
    {
      text: searchInput('part of the name or of the mail address'),
      ...pageInput(LIMIT, LIMIT_MAX),
    },
    STRICT,
  ),
  result: Type.Object({ people: Type.Array(PersonView), nextCursor: nullable(Type.String()) }),
  example: { text: 'ann', cursor: nameCursorOf({ name: 'Anna', id: EXAMPLE_IDS.userId }), limit: 20 },
  async handle({ text, cursor, limit = LIMIT }, context) {
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
