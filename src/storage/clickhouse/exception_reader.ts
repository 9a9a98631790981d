import type { Id } from '#kernel/ids.ts';

/** Reads of exception events. */
export interface ExceptionReader {
  /** Events that each group holds; a group without events is absent. */
  countEvents(serviceId: Id<'service'>, groupIds: readonly Id<'group'>[]): Promise<Map<string, number>>;
}
