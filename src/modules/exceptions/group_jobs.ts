import { EventThread } from '#modules/exceptions/event_thread.ts';
import { groupAndStore } from '#modules/exceptions/group_and_store.ts';
import { groupLarge, groupOneByOne, isLarge } from '#modules/exceptions/group_large.ts';
import { type GroupingRuntime, readingOf, recordRefused } from '#modules/exceptions/grouping_runtime.ts';
import { isEvent, readEvents } from '#modules/exceptions/read_events.ts';
import { quarantineEvents } from '#modules/exceptions/quarantine_events.ts';
import { Batcher } from '#ingest/batcher.ts';
import { type ArrivedEvent, listEvents, openEvents } from '#ingest/packing/pack_events.ts';
import { freeBytes } from '#kernel/free_bytes.ts';
import { KeyedLimit } from '#kernel/keyed_limit.ts';
import { retryWhileUnavailable } from '#kernel/promises.ts';
import { deduplicationToken } from '#storage/clickhouse/insert_rows.ts';
import type { EventOfService, MapToSource } from '#modules/releases/source_maps/source_maps.ts';
import { storesOf } from '#modules/stores.ts';
import type { DurableJobHandler } from '#storage/queue/durable_job_runner.ts';
import { OUTAGE_RETRY } from '#storage/queue/job_workers.ts';

interface Batch {
  /** Total size of the events as sent. */
  readonly bytes: number;
  readonly events: readonly ArrivedEvent[];
  readonly map: MapToSource;
  readonly token: string;
}

/**
 * Batching: an insert costs ClickHouse 35 ms with its merges, whether it has ten events or some hundreds, so the jobs of
 * `EVERY_MS` are handled together. Only a busy queue waits that long, because people are paged for these events: after
 * a while without any, the first is handled at once.
 */
const LINGER_MS = 5;
const EVERY_MS = 1_000;
/** A stream of ten events or a hundred a second; an event that comes alone does not wait. */
const EVERY_MS_MIN = 300;
const BUSY_FROM_EVENTS = 250;
/** Idle time after which a burst is over, and its last jobs wait for no more. */
const QUIET_MS = 200;
const JOBS_MAX = 160;
const BATCH_EVENTS_MAX = 500;
/**
 * Limit on the bytes of a batch, for 500 ordinary events: what takes long to group is large, and this much takes half a
 * second at worst.
 */
const BATCH_BYTES_MAX = 4 * 1024 * 1024;
/** Concurrency of large jobs, each of which takes much memory. */
const LARGE_AT_ONCE = { concurrency: 3, concurrencyPerKey: 1 };
/**
 * Capacity for grouping: at most one batch of one organization at a time, so that others only wait for the one that is
 * running, and 8 MiB of it, as large jobs wait for each other.
 */
export const GROUPING_CAPACITY = {
  items: 2 * BATCH_EVENTS_MAX,
  itemsOfOrg: BATCH_EVENTS_MAX,
  jobs: 2 * JOBS_MAX,
  jobsOfOrg: JOBS_MAX,
  bytesOfItem: 16 * 1024,
};

/**
 * Adds the events of jobs to their groups and stores them. At the first attempt, jobs are handled in batches; a large
 * one by itself, and its events in a thread of their own, so that it holds up no others. If that fails, or if reading
 * takes too long, the next attempt handles each event of the job separately: see `groupOneByOne`. Events that take too
 * long by themselves are quarantined for hours.
 */
export function groupJobs(runtime: GroupingRuntime): DurableJobHandler['run'] {
  const thread = new EventThread();
  const large = new KeyedLimit(LARGE_AT_ONCE);
  const batches = new Batcher<Batch>({
    lingerMs: LINGER_MS,
    everyMs: EVERY_MS,
    everyMsMin: EVERY_MS_MIN,
    busyFrom: BUSY_FROM_EVENTS,
    quietMs: QUIET_MS,
    itemsMax: JOBS_MAX,
    max: { bytes: BATCH_BYTES_MAX, count: BATCH_EVENTS_MAX },
    commitsMax: 1,
    weigh: ({ events, bytes }) => ({ bytes, count: events.length }),
    commit: (collected) =>
      retryWhileUnavailable(
        () =>
          groupAndStore(
            runtime,
            collected.flatMap(({ events }) => events),
            deduplicationToken(...collected.map(({ token }) => token)),
            mapOfEach(collected),
          ),
        OUTAGE_RETRY,
      ),
  });
  return async (packed, { attempt, log }) => {
    const { orgIdOfLarge, unread } = openJob(runtime, packed, attempt);
    if (orgIdOfLarge !== null) return await large.run(orgIdOfLarge, () => groupLarge(runtime, thread, packed));
    const token = deduplicationToken(packed);
    if (attempt === 1) {
      const read = await readEvents(readingOf(runtime), unread);
      const malformed = unread.filter((_, index) => read[index] === 'malformed');
      await recordRefused(
        storesOf(runtime.db.session()),
        'faulty',
        malformed.map(({ serviceId }) => ({ serviceId, count: 1 })),
        runtime.clock.now(),
      );
      const events = read.filter(isEvent);
      // Before the batch, so that maps which take long hold up nobody else.
      const map = await retryWhileUnavailable(() => runtime.sourceMaps.prepare(events, 'worker'), OUTAGE_RETRY);
      return await batches.add({ bytes: unread.reduce((sum, { bytes }) => sum + bytes, 0), events, map, token });
    }
    const slow = await groupOneByOne(runtime, unread, { token, attempt, log });
    if (slow.length > 0) await quarantineEvents(runtime, slow, log);
  };
}

/** The events of a job; of a large one whose turn is still to come nothing but its organization. */
function openJob({ eventCipher }: GroupingRuntime, packed: Buffer, attempt: number) {
  const opened = openEvents(packed, eventCipher);
  const unread = listEvents(opened);
  const orgIdOfLarge = attempt === 1 && isLarge(unread) ? (unread[0]?.orgId ?? null) : null;
  if (orgIdOfLarge === null) return { orgIdOfLarge, unread };
  freeBytes(opened);
  return { orgIdOfLarge, unread: [] };
}

/** Maps each event by the maps of its job. */
function mapOfEach(batches: readonly Batch[]): MapToSource {
  const maps = new Map(batches.flatMap(({ events, map }) => events.map((event) => [keyOf(event), map] as const)));
  return (event) => maps.get(keyOf(event))?.(event) ?? event;
}

function keyOf({ serviceId, event }: EventOfService): string {
  return `${serviceId} ${event.eventId}`;
}
