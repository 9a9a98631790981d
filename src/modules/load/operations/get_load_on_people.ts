import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT } from '#actions/fields.ts';
import { LOAD_INPUT, LoadView, readLoad } from '#modules/load/read_load.ts';

/** The load of a month on people; agents read it, too. */
export const getLoadOnPeople = defineAction({
  name: 'get_load_on_people',
  consoleOnly: true,
  summary:
    'Show what a month of on-call asked of the people of a team: pages, at night and at weekends, times to answer, shifts; and the pages of each rule that nobody acted on.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object(LOAD_INPUT, STRICT),
  result: LoadView,
  example: { teamId: EXAMPLE_IDS.teamId, month: '2027-01' },
  handle: async (input, context) => await readLoad(input, context),
});
