import { Type } from 'typebox';

import { defineJob } from '#kernel/job.ts';

/**
 * Mails a link to set a new password, if there is such an account. It runs as a job so that the answer takes the same
 * time for every address. A repetition mails another link.
 */
export const sendPasswordReset = defineJob({
  name: 'send_password_reset',
  queue: 'upkeep',
  payload: Type.Object({
    email: Type.String(),
    /** Id of the request for the reset. */
    requestId: Type.String(),
    address: Type.Union([Type.String(), Type.Null()]),
  }),
  key: ({ requestId }) => requestId,
  attempts: 5,
  backoff: { firstDelayMs: 1_000, maxDelayMs: 60_000 },
});
