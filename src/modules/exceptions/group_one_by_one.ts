import { groupAndStore } from '#modules/exceptions/group_and_store.ts';
import { type GroupingRuntime, readingOf } from '#modules/exceptions/grouping_runtime.ts';
import { isEvent, listSlow, readEvent } from '#modules/exceptions/read_events.ts';
import type { AcceptedEvent, UnreadEvent } from '#ingest/packing/pack_events.ts';
import type { Log } from '#kernel/log.ts';
import { deduplicationToken } from '#storage/clickhouse/deduplication_token.ts';
import { isolateFaults } from '#storage/queue/isolate_faults.ts';

/**
 * Groups and stores events separately, so that one that fails does not block the others. An event that the stores
 * permanently reject is dropped and logged. Returns those that took too long to read.
 */
export async function groupOneByOne(
  runtime: GroupingRuntime,
  unread: readonly UnreadEvent[],
  { token, attempt, log }: { readonly token: string; readonly attempt: number; readonly log: Log },
): Promise<readonly AcceptedEvent[]> {
  const slow = new Set(await listSlow(readingOf(runtime), unread));
  const others = unread.filter((event) => !slow.has(event));
  const work = async (part: readonly UnreadEvent[]): Promise<void> => {
    const events = part.map(readEvent).filter(isEvent);
    await groupAndStore(runtime, events, deduplicationToken(token, ...part.map(({ eventId }) => eventId)));
  };
  for (const { item, error } of await isolateFaults(others, attempt, work)) {
    const { serviceId, eventId } = item;
    log.error({ serviceId, eventId, err: error }, 'event dropped: the stores permanently reject it');
  }
  return [...slow].map(({ accepted }) => accepted());
}
