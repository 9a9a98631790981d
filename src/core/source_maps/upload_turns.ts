import type { Id } from '#kernel/ids.ts';

/** An upload that waits to be read. */
export interface WaitingUpload {
  readonly id: Id<'bundle'>;
  readonly orgId: Id<'org'>;
}

/**
 * In which order the organizations whose uploads wait have their turn: first the one whose turn was longest ago, or never.
 * `waiting` has the oldest upload of each, and between equals its order counts.
 */
export function inTurn<Upload extends WaitingUpload>(
  waiting: readonly Upload[],
  lastTurnAtMs: ReadonlyMap<Id<'org'>, number>,
): Upload[] {
  const turnOf = ({ orgId }: Upload): number => lastTurnAtMs.get(orgId) ?? 0;
  return waiting.toSorted((one, other) => turnOf(one) - turnOf(other));
}
