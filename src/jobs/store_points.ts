import { Type } from 'typebox';

import { defineJob } from '#kernel/job.ts';

/**
 * Brings accepted points into ClickHouse. The job is the data's only home until it has run, so it is kept, and tried for
 * weeks rather than given up. `packed` is what `packPoints` makes.
 */
export const storePoints = defineJob({
  name: 'store_points',
  queue: 'ingest',
  payload: Type.Object({ packed: Type.String() }),
  key: null,
  attempts: 200_000,
  backoff: { firstDelayMs: 500, maxDelayMs: 10_000 },
  isKept: true,
});
