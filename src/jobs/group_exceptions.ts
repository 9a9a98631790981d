import { Type } from 'typebox';

import { defineJob } from '#kernel/job.ts';

/**
 * Brings accepted events into their groups and into ClickHouse. The job is the data's only home until it has run, so it is
 * kept, and tried for weeks rather than given up. `packed` is what `packEvents` makes.
 */
export const groupExceptions = defineJob({
  name: 'group_exceptions',
  queue: 'ingest',
  payload: Type.Object({ packed: Type.String() }),
  key: null,
  attempts: 200_000,
  backoff: { firstDelayMs: 500, maxDelayMs: 10_000 },
  isKept: true,
});
