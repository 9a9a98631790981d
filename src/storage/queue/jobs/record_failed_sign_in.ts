import { Type } from 'typebox';

import { defineJob } from '#kernel/job.ts';

/**
 * Records a sign-in with a wrong password in the audit log, if there is such an account. It runs as a job so that the
 * answer takes the same time for an unknown account.
 */
export const recordFailedSignIn = defineJob({
  name: 'record_failed_sign_in',
  queue: 'upkeep',
  payload: Type.Object({
    email: Type.String(),
    /** Id of the sign-in request. */
    requestId: Type.String(),
    address: Type.Union([Type.String(), Type.Null()]),
  }),
  key: ({ requestId }) => requestId,
  attempts: 5,
  backoff: { firstDelayMs: 1_000, maxDelayMs: 60_000 },
});
