import type { Cipher } from '#auth/cipher.ts';
import { type AcceptedEvent, packEvents } from '#ingest/packing/pack_events.ts';
import type { Log } from '#kernel/log.ts';
import type { Clock } from '#kernel/time.ts';
import type { Database } from '#storage/postgres/database.ts';
import { SetAsideStore } from '#storage/postgres/set_aside_store.ts';
import { deduplicationToken } from '#workers/deduplication_token.ts';

/** An event that takes too long now takes as long in a minute. A later release may read it faster. */
export const TRIED_AGAIN_AFTER_HOURS = 6;

interface SettingAside {
  readonly db: Database;
  readonly clock: Clock;
  readonly eventCipher: Pick<Cipher, 'seal'>;
}

/** Sets aside events that took too long twice. They are listed for their service and tried again hours later. */
export async function setAsideEvents(runtime: SettingAside, events: readonly AcceptedEvent[], log: Log): Promise<void> {
  const now = runtime.clock.now();
  const rows = [...Map.groupBy(events, ({ serviceId }) => serviceId)].map(([serviceId, own]) => ({
    id: deduplicationToken(serviceId, ...own.map(({ sent }) => sent.context.eventId)).slice(0, 32),
    serviceId,
    events: own.length,
    payload: packEvents(own, runtime.eventCipher),
    setAsideAt: now,
    dueAt: now.add({ hours: TRIED_AGAIN_AFTER_HOURS }),
  }));
  await new SetAsideStore(runtime.db.session()).add(rows);
  for (const { serviceId, events: count } of rows) {
    log.error({ serviceId, events: count }, 'events set aside: reading them took too long');
  }
}
