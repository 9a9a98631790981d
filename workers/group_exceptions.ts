import { Batcher } from '#ingest/batcher.ts';
import { type ArrivedEvent, type UnreadEvent, unpackEvents } from '#ingest/packing/pack_events.ts';
import { groupExceptions } from '#jobs/group_exceptions.ts';
import { retryWhileUnavailable } from '#kernel/retry.ts';
import { refusalHour } from '#storage/postgres/ingest_refusal_store.ts';
import { storesOf } from '#storage/postgres/stores.ts';
import type { DurableJobHandler } from '#storage/queue/durable_job_runner.ts';
import { OUTAGE_RETRY } from '#storage/queue/job_workers.ts';
import { deduplicationToken } from '#workers/deduplication_token.ts';
import { groupAndStore, groupOneByOne, type GroupingRuntime, readingOf } from '#workers/group_and_store.ts';
import { isEvent, readEvents } from '#workers/read_events.ts';
import { setAsideEvents } from '#workers/set_aside_events.ts';

/** The events of one job. */
interface Batch {
  readonly events: readonly ArrivedEvent[];
  readonly token: string;
}

/**
 * Both stores prefer few large batches, so the jobs of `EVERY_MS` are handled together. Only a busy queue waits that
 * long, because people are paged for these events.
 */
const LINGER_MS = 5;
const EVERY_MS = 400;
const BUSY_FROM_EVENTS = 200;
const JOBS_MAX = 48;
const BATCH_EVENTS_MAX = 500;
/** At most one batch of one organization at a time, so that others only wait for the one that is running. */
const CAPACITY = { items: 2 * BATCH_EVENTS_MAX, itemsOfOrg: BATCH_EVENTS_MAX, jobs: 2 * JOBS_MAX };

/**
 * Adds events to their groups and stores them. At the first attempt, jobs are handled in batches. If that fails, or if
 * reading takes too long, the next attempt handles each event of the job separately: see `groupOneByOne`. Events that
 * take too long by themselves are set aside for hours.
 */
export function onGroupExceptions(runtime: GroupingRuntime): DurableJobHandler {
  const batches = new Batcher<Batch>({
    lingerMs: LINGER_MS,
    everyMs: EVERY_MS,
    busyFrom: BUSY_FROM_EVENTS,
    itemsMax: JOBS_MAX,
    max: { bytes: Infinity, count: BATCH_EVENTS_MAX },
    commitsMax: 1,
    weigh: ({ events }) => ({ bytes: 0, count: events.length }),
    commit: (collected) =>
      retryWhileUnavailable(
        () =>
          groupAndStore(
            runtime,
            collected.flatMap(({ events }) => events),
            deduplicationToken(...collected.map(({ token }) => token)),
          ),
        OUTAGE_RETRY,
      ),
  });
  return {
    job: groupExceptions,
    capacity: CAPACITY,
    async run(packed, { attempt, log }) {
      const unread = unpackEvents(packed, runtime.eventCipher);
      const token = deduplicationToken(packed);
      if (attempt === 1) {
        const read = readEvents(readingOf(runtime), unread);
        const malformed = unread.filter((_, index) => read[index] === 'malformed');
        if (malformed.length > 0) await recordMalformed(runtime, malformed);
        return await batches.add({ events: read.filter(isEvent), token });
      }
      const slow = await groupOneByOne(runtime, unread, { token, attempt, log });
      if (slow.length > 0) await setAsideEvents(runtime, slow, log);
    },
  };
}

/** The ingest status of the service shows events that turned out to be none. */
async function recordMalformed({ db, clock }: GroupingRuntime, malformed: readonly UnreadEvent[]): Promise<void> {
  const now = clock.now();
  const hour = refusalHour(now);
  const counts = Map.groupBy(malformed, ({ serviceId }) => serviceId);
  await storesOf(db.session()).ingestRefusals.add(
    [...counts].map(([serviceId, { length: count }]) => {
      return { serviceId, kind: 'events', reason: 'faulty', hour, count, lastAt: now };
    }),
  );
}
