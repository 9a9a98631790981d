import { Type } from 'typebox';

import { defineJob } from '#kernel/job.ts';

/** Mails the owner of an address whether they want updates of a status page. */
export const sendStatusConfirmation = defineJob({
  name: 'send_status_confirmation',
  queue: 'upkeep',
  payload: Type.Object({ subscriberId: Type.String() }),
  key: ({ subscriberId }) => subscriberId,
  attempts: 4,
  backoff: { firstDelayMs: 1_000, maxDelayMs: 60_000 },
});
