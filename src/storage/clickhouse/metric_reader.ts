import type { Temporal } from '#kernel/time.ts';
import type { Id } from '#kernel/ids.ts';

/** Reads of metric points. */
export interface MetricReader {
  /** Distinct names that hold points since `since`, sorted. */
  listNames(serviceId: Id<'service'>, since: Temporal.Instant): Promise<string[]>;
}
