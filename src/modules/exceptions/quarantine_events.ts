import { type AcceptedEvent, packEvents, unpackEvents } from '#ingest/packing/pack_events.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import type { Temporal } from '#kernel/time.ts';
import { groupOneByOne } from '#modules/exceptions/group_large.ts';
import { type GroupingRuntime, recordRefused } from '#modules/exceptions/grouping_runtime.ts';
import { storesOf } from '#modules/stores.ts';
import { deduplicationToken } from '#storage/clickhouse/insert_rows.ts';

/** An event that takes too long now takes as long in a minute. A later release may read it faster. */
const RETRY_AFTER_HOURS = 6;

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

/** Limit on the retries in one round, so that new events never wait for those that were quarantined. */
const ROUND_MAX = 20;
const KEPT_DAYS = 30;
/** Number of the attempt; not the first, so that each event is read by itself. */
const ATTEMPT = 2;

/** Tries events that were quarantined once more, hours after the last attempt. After a month they, and jobs, are dropped. */
export async function retryQuarantined(runtime: GroupingRuntime): Promise<void> {
  const { log } = runtime;
  const now = runtime.clock.now();
  const turn = new Set<Id<'org'>>();
  for (let tried = 0; tried < ROUND_MAX && (await retryNext(runtime, now, turn)); tried += 1);
  const stores = storesOf(runtime.db.session());
  const expiredAt = now.subtract({ hours: KEPT_DAYS * 24 });
  const lostJobs = await stores.quarantinedJobs.removeBefore(expiredAt);
  if (lostJobs.length > 0)
    log.error({ jobs: lostJobs }, `jobs dropped: workers kept crashing while they ran them, for ${KEPT_DAYS} days`);
  const lost = await stores.quarantinedEvents.removeBefore(expiredAt);
  if (lost.length === 0) return;
  log.error({ rows: lost.length }, `events dropped: they could not be read in ${KEPT_DAYS} days`);
  await recordRefused(
    stores,
    'faulty',
    lost.map(({ serviceId, events }) => ({ serviceId, count: events })),
    now,
  );
}

/** Retries the next due events, of organizations in turn; returns false if nothing is due. */
async function retryNext(runtime: GroupingRuntime, now: Temporal.Instant, turn: Set<Id<'org'>>): Promise<boolean> {
  const { db, log } = runtime;
  const { quarantinedEvents } = storesOf(db.session());
  const take = () => quarantinedEvents.takeDue(now, now.add({ hours: RETRY_AFTER_HOURS }), [...turn]);
  let due = await take();
  if (due === null && turn.size > 0) {
    turn.clear();
    due = await take();
  }
  if (due === null) return false;
  turn.add(due.orgId);
  const { id, serviceId, events, tries, payload } = due;
  const unread = unpackEvents(payload, runtime.eventCipher);
  const slow = await groupOneByOne(runtime, unread, { token: deduplicationToken(payload), attempt: ATTEMPT, log });
  if (slow.length === 0) await quarantinedEvents.remove(id);
  log.info({ serviceId, events, tries, isStored: slow.length === 0 }, 'events that were quarantined were tried again');
  return true;
}
