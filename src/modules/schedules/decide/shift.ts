import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';

/** Time of one person on call without a break and for one cause, `[since, until)`; `until` is null if it never ends. */
export interface Shift {
  readonly userId: Id<'user'>;
  readonly source: 'rotation' | 'override';
  readonly since: Temporal.Instant;
  readonly until: Temporal.Instant | null;
}
