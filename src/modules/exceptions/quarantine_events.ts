import type { GroupingRuntime } from '#modules/exceptions/grouping_runtime.ts';
import { type AcceptedEvent, packEvents } from '#ingest/packing/pack_events.ts';
import type { Log } from '#kernel/log.ts';
import { deduplicationToken } from '#storage/clickhouse/insert_rows.ts';
import { storesOf } from '#modules/stores.ts';

/** An event that takes too long now takes as long in a minute. A later release may read it faster. */
export const RETRY_AFTER_HOURS = 6;

/** Sets aside events that took too long twice. They are listed for their service and tried again hours later. */
export async function quarantineEvents(
  { db, clock, eventCipher }: GroupingRuntime,
  events: readonly AcceptedEvent[],
  log: Log,
): Promise<void> {
  const now = clock.now();
  const rows = [...Map.groupBy(events, ({ serviceId }) => serviceId)].map(([serviceId, ofService]) => ({
    id: deduplicationToken(serviceId, ...ofService.map(({ sent }) => sent.context.eventId)).slice(0, 32),
    serviceId,
    events: ofService.length,
    payload: packEvents(ofService, eventCipher),
    quarantinedAt: now,
    dueAt: now.add({ hours: RETRY_AFTER_HOURS }),
  }));
  await storesOf(db.session()).quarantinedEvents.add(rows);
  for (const { serviceId, events: count } of rows) {
    log.error({ serviceId, events: count }, 'events quarantined: reading them took too long');
  }
}
