import type { ActionContext } from '#actions/action_context.ts';
import { type MoveInWork, seenStatus } from '#modules/moving_in/decide/move_in_state.ts';
import type { MoveInRow } from '#modules/moving_in/store.ts';
import { AppError } from '#kernel/errors.ts';
import type { Temporal } from '#kernel/time.ts';

/** Returns a move as it is worked on for the caller. */
export function workOf(
  { id, tool, proofFrom }: MoveInRow,
  { caller, origin }: Pick<ActionContext, 'caller' | 'origin'>,
): MoveInWork {
  return { moveInId: id, tool, proofFrom: proofFrom?.epochMilliseconds ?? null, caller, origin };
}

/** Returns the status of a move as it is seen, with why the last step failed. */
export function statusOf(row: MoveInRow, now: Temporal.Instant): ReturnType<typeof seenStatus> {
  const silentMs = now.epochMilliseconds - row.updatedAt.epochMilliseconds;
  return seenStatus({ status: row.status, fault: row.fault, file: row.hasFile ? '' : null, silentMs });
}

/** Throws `conflict` while a process works on the move. */
export function requireQuiet(row: MoveInRow, now: Temporal.Instant): void {
  const { status } = statusOf(row, now);
  if (status === 'reading' || status === 'applying')
    throw new AppError('conflict', 'this move is being worked on; wait until it is done');
}
