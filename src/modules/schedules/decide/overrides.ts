import type { Id } from '#kernel/ids.ts';
import { isAtOrBefore, Temporal } from '#kernel/time.ts';

import type { IsPresent } from '#modules/schedules/decide/layer.ts';

type Instant = Temporal.Instant;

/** A replacement of the person on call during `[startAt, endAt)`. */
export interface Override {
  readonly overrideId: Id<'override'>;
  /** Layer for which it counts, within its hours; null or absent: the whole schedule. */
  readonly layerId?: string | null;
  readonly userId: Id<'user'>;
  readonly startAt: Instant;
  readonly endAt: Instant;
  readonly createdAt: Instant;
}

/** Time that one person covers by overrides without a break, `[since, until)`. */
export interface CoveredTime {
  readonly userId: Id<'user'>;
  readonly since: Instant;
  readonly until: Instant;
}

/**
 * Computes the override layer: where overrides overlap, the one created last wins. Oldest first, disjoint, and
 * adjoining times of one person are one. Overrides of people who have left are ignored, so that what is below them
 * shows.
 */
export function overrideLayer(overrides: readonly Override[], isPresent: IsPresent): CoveredTime[] {
  const valid = overrides.filter(({ userId, startAt, endAt }) => isPresent(userId) && !isAtOrBefore(endAt, startAt));
  const byStart = valid.toSorted((a, b) => Temporal.Instant.compare(a.startAt, b.startAt));
  const edges = valid.flatMap((override) => [override.startAt, override.endAt]).sort(Temporal.Instant.compare);

  const layer: CoveredTime[] = [];
  /** Running overrides by creation, so that the last one counts. One that has ended is removed once it is the last. */
  const running: Override[] = [];
  let opened = 0;
  for (const [index, since] of edges.entries()) {
    const until = edges[index + 1];
    if (until === undefined || until.equals(since)) continue;
    for (let next = byStart[opened]; next && isAtOrBefore(next.startAt, since); next = byStart[opened]) {
      opened += 1;
      running.splice(placeOf(next, running), 0, next);
    }
    while (hasEnded(running.at(-1), since)) running.pop();
    const winner = running.at(-1);
    if (winner) append(layer, { userId: winner.userId, since, until });
  }
  return layer;
}

function hasEnded(override: Override | undefined, at: Instant): boolean {
  return override !== undefined && isAtOrBefore(override.endAt, at);
}

/** Returns the position after all that were created before. */
function placeOf(override: Override, byAge: readonly Override[]): number {
  let [low, high] = [0, byAge.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = byAge[middle];
    if (other !== undefined && byCreation(other, override) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Returns the override for a layer, or with null for the whole schedule, that counts at this instant; null when none
 * does.
 */
export function overrideAt(
  overrides: readonly Override[],
  layerId: string | null,
  at: Instant,
  isPresent: IsPresent,
): Override | null {
  const running = overrides.filter(
    ({ userId, startAt, endAt, layerId: overrideLayerId = null }) =>
      overrideLayerId === layerId && isPresent(userId) && isAtOrBefore(startAt, at) && !isAtOrBefore(endAt, at),
  );
  return running.toSorted(byCreation).at(-1) ?? null;
}

/** Compares by creation; two made in the same instant by their ids, which sort by creation. */
function byCreation(a: Override, b: Override): number {
  const order = Temporal.Instant.compare(a.createdAt, b.createdAt);
  if (order !== 0) return order;
  return a.overrideId < b.overrideId ? -1 : 1;
}

function append(layer: CoveredTime[], covered: CoveredTime): void {
  const last = layer.at(-1);
  const continues = last !== undefined && last.userId === covered.userId && last.until.equals(covered.since);
  if (continues) layer[layer.length - 1] = { ...last, until: covered.until };
  else layer.push(covered);
}
