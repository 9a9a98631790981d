import { addMoveInFile } from '#modules/moving_in/operations/add_move_in_file.ts';
import { applyMoveIn } from '#modules/moving_in/operations/apply_move_in.ts';
import { createMoveIn } from '#modules/moving_in/operations/create_move_in.ts';
import { getMoveIn } from '#modules/moving_in/operations/get_move_in.ts';
import { getMoveInText } from '#modules/moving_in/operations/get_move_in_text.ts';
import { listMoveInItems } from '#modules/moving_in/operations/list_move_in_items.ts';
import { planMoveIn } from '#modules/moving_in/operations/plan_move_in.ts';
import { readMoveIn } from '#modules/moving_in/operations/read_move_in.ts';
import { stopMoveIn } from '#modules/moving_in/operations/stop_move_in.ts';

/** Operations of the console on moves from other tools. */
export const MOVE_IN_OPERATIONS = [
  createMoveIn,
  addMoveInFile,
  readMoveIn,
  getMoveIn,
  listMoveInItems,
  getMoveInText,
  stopMoveIn,
  planMoveIn,
  applyMoveIn,
] as const;
