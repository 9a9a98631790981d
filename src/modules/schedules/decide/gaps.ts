import { isAtOrBefore, type Temporal } from '#kernel/time.ts';

import { type CoveredTime, type Override, overrideLayer } from './overrides.ts';
import type { IsPresent, Rotation } from './rotation.ts';

type Instant = Temporal.Instant;

/** Time in which nobody is on call, `[since, until)`. */
export interface Gap {
  readonly since: Instant;
  readonly until: Instant;
}

/**
 * Returns the gaps within `[from, to)`, oldest first, cut at its limits. Once a rotation with somebody in it has
 * started, it leaves none; so there are no more gaps than overrides and one.
 */
export function gapsBetween(
  rotation: Rotation,
  overrides: readonly Override[],
  from: Instant,
  to: Instant,
  isPresent: IsPresent,
): Gap[] {
  const isManned = rotation.userIds.some((userId) => isPresent(userId));
  const end = isManned && isAtOrBefore(rotation.startAt, to) ? rotation.startAt : to;
  return uncovered(overrideLayer(overrides, isPresent), from, end);
}

function uncovered(layer: readonly CoveredTime[], from: Instant, to: Instant): Gap[] {
  const gaps: Gap[] = [];
  let at = from;
  for (const covered of layer) {
    if (isAtOrBefore(to, covered.since)) break;
    if (isAtOrBefore(covered.until, at)) continue;
    if (!isAtOrBefore(covered.since, at)) gaps.push({ since: at, until: covered.since });
    at = covered.until;
  }
  if (!isAtOrBefore(to, at)) gaps.push({ since: at, until: to });
  return gaps;
}
