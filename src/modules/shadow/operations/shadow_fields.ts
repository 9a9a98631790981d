import { Type } from 'typebox';

import { nullable, Timestamp } from '#actions/fields.ts';
import type { Temporal } from '#kernel/time.ts';

/** Result of a change of shadow mode. */
export const SHADOW_FIELDS = {
  shadowSince: nullable(Timestamp),
  openIncidents: Type.Integer({
    description:
      'open incidents that were opened in shadow mode: when it ends they are resolved within seconds, and what still goes on opens anew',
  }),
};

/** Returns since when shadow mode is on after a change; null where it is off. */
export function sinceAfter(
  enabled: boolean,
  before: Temporal.Instant | null,
  now: Temporal.Instant,
): Temporal.Instant | null {
  return enabled ? (before ?? now) : null;
}
