import { Type } from 'typebox';

import { defineJob } from '#kernel/job.ts';

/** Takes the source maps out of what a build has uploaded; does nothing for a bundle that has been read. */
export const assembleBundle = defineJob({
  name: 'assemble_bundle',
  queue: 'uploads',
  payload: Type.Object({ orgId: Type.String(), bundleId: Type.String() }),
  key: ({ bundleId }) => bundleId,
  attempts: 5,
  backoff: { firstDelayMs: 1_000, maxDelayMs: 60_000 },
});
