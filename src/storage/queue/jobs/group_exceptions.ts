import { defineDurableJob } from '#kernel/job.ts';

/**
 * Brings accepted events into their groups and into ClickHouse. The job is the data's only home until it has run, so it is
 * kept, and tried for weeks rather than given up. Its bytes are what `packEvents` makes.
 */
export const groupExceptions = defineDurableJob({
  name: 'group_exceptions',
  queue: 'ingest',
  attempts: 200_000,
  backoff: { firstDelayMs: 500, maxDelayMs: 10_000 },
});
