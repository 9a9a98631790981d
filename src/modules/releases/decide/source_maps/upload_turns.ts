import type { Id } from '#kernel/ids.ts';

export interface WaitingUpload {
  readonly id: Id<'bundle'>;
  readonly orgId: Id<'org'>;
}

/**
 * Orders the waiting uploads of organizations: first the organization whose turn was longest ago, or never. `waiting`
 * has the oldest upload of each, and between equals its order counts.
 */
export function inTurn<Upload extends WaitingUpload>(
  waiting: readonly Upload[],
  lastTurnAtMs: ReadonlyMap<Id<'org'>, number>,
): Upload[] {
  const turnOf = ({ orgId }: Upload): number => lastTurnAtMs.get(orgId) ?? 0;
  return waiting.toSorted((a, other) => turnOf(a) - turnOf(other));
}
