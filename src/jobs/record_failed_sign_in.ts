import { Type } from 'typebox';

import { defineJob } from '#kernel/job.ts';

/**
 * Writes down in the audit log that somebody tried to sign in to an account with a wrong password, if there is such an
 * account: who is unknown is answered alike, and in the same time.
 */
export const recordFailedSignIn = defineJob({
  name: 'record_failed_sign_in',
  queue: 'upkeep',
  payload: Type.Object({
    email: Type.String(),
    /** Of the request that tried. */
    requestId: Type.String(),
    address: Type.Union([Type.String(), Type.Null()]),
  }),
  key: ({ requestId }) => requestId,
  attempts: 5,
  backoff: { firstDelayMs: 1_000, maxDelayMs: 60_000 },
});
