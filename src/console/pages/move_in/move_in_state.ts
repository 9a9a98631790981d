import type { ResultOf } from '#console/api/actions.ts';
import { TOOL_SOURCES } from '#modules/moving_in/decide/tool_names.ts';

export type MoveIn = NonNullable<ResultOf<'get_move_in'>['moveIn']>;

/** Whether the server works on the move, so that it will soon be another. */
export function isWorkedOn(moveIn: MoveIn | null): boolean {
  if (moveIn === null) return false;
  const { status, plan, fault } = moveIn;
  return status === 'reading' || status === 'applying' || (status === 'read' && plan === null && fault === null);
}

export function titleOf(tool: string): string {
  return new Map<string, { title: string }>(Object.entries(TOOL_SOURCES)).get(tool)?.title ?? tool;
}
