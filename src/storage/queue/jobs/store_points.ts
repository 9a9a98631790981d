import { defineDurableJob } from '#kernel/job.ts';

/**
 * Brings accepted points into ClickHouse. The job is the data's only home until it has run, so it is kept, and tried for
 * weeks rather than given up. Its bytes are what `packPoints` makes.
 */
export const storePoints = defineDurableJob({
  name: 'store_points',
  queue: 'ingest',
  attempts: 200_000,
  backoff: { firstDelayMs: 500, maxDelayMs: 10_000 },
});
