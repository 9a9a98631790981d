import type { AnyConsoleOperation } from '#actions/action_context.ts';
import { exportLoadOnPeople } from '#modules/load/operations/export_load_on_people.ts';
import { getLoadOnPeople } from '#modules/load/operations/get_load_on_people.ts';

/** Operations of the console for the load of on-call on people. */
export const LOAD_OPERATIONS = [getLoadOnPeople, exportLoadOnPeople] as const satisfies readonly AnyConsoleOperation[];
