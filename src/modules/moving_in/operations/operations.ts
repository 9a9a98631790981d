import {
  addMoveInFile,
  applyMoveIn,
  createMoveIn,
  planMoveIn,
  readMoveIn,
  stopMoveIn,
} from '#modules/moving_in/operations/move_in_steps.ts';
import { getMoveIn, getMoveInText, listMoveInItems } from '#modules/moving_in/operations/move_in.ts';

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
