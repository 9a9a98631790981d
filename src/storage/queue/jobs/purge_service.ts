import { Type } from 'typebox';

import { defineJob } from '#kernel/job.ts';

/** Removes what is left of a deleted service from every store; safe to run again after a crash half-way. */
export const purgeService = defineJob({
  name: 'purge_service',
  queue: 'upkeep',
  payload: Type.Object({ serviceId: Type.String() }),
  key: ({ serviceId }) => serviceId,
  attempts: 10,
  backoff: { firstDelayMs: 1_000, maxDelayMs: 300_000 },
});
