import { type Static, Type } from 'typebox';

import { type AnyConsoleOperation, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/fields.ts';
import { StrictObject, type FileAnswer } from '#kernel/action.ts';
import { toCell } from '#kernel/csv.ts';
import { LOAD_INPUT, LoadView, readLoad } from '#modules/load/read_load.ts';

/** The load of a month on people; agents read it, too. */
export const getLoadOnPeople = defineOperation({
  name: 'get_load_on_people',
  summary:
    'Show what a month of on-call asked of the people of a team: pages, at night and at weekends, times to answer, shifts; and the pages of each rule that nobody acted on.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject(LOAD_INPUT),
  result: LoadView,
  example: { teamId: EXAMPLE_IDS.teamId, month: '2027-01' },
  handle: async (input, context) => await readLoad(input, context),
});

const COLUMNS = [
  'month',
  'team',
  'person',
  'userId',
  'timezone',
  'pages',
  'nightPages',
  'weekendPages',
  'acknowledged',
  'minutesToAcknowledge',
  'resolved',
  'minutesToResolve',
  'minutesAwake',
  'shifts',
  'hoursOnCall',
] as const;

export const exportLoadOnPeople = defineOperation({
  name: 'export_load_on_people',
  summary: 'Download the load of a month on the people of a team as CSV; the last line is their average.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject(LOAD_INPUT),
  result: Type.Unsafe<FileAnswer>({ description: 'a file' }),
  sends: ['text/csv'],
  example: { teamId: EXAMPLE_IDS.teamId, month: '2027-01' },
  async handle(input, context) {
    const load = await readLoad(input, context);
    return { name: `load-${load.month}.csv`, mediaType: 'text/csv', content: linesOf(load) };
  },
});

/** Yields RFC 4180, with a line of names at the top. */
// eslint-disable-next-line typescript/require-await -- a file is sent piece by piece
async function* linesOf({ month, teamName: team, people, mean }: Static<typeof LoadView>): AsyncGenerator<string> {
  yield `${COLUMNS.join(',')}\r\n`;
  const rows = [
    ...people.map(({ name, ...person }) => ({ month, team, person: name, ...person })),
    { month, team, person: 'mean', userId: '', timezone: '', ...mean },
  ];
  for (const row of rows) {
    yield `${COLUMNS.map((column) => toCell(row[column] === null ? null : String(row[column]))).join(',')}\r\n`;
  }
}

/** Operations of the console for the load of on-call on people. */
export const LOAD_OPERATIONS = [getLoadOnPeople, exportLoadOnPeople] as const satisfies readonly AnyConsoleOperation[];
