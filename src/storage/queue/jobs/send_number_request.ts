import { Type } from 'typebox';

import { defineJob } from '#kernel/job.ts';

/** Mails a person of a campaign that their number has to be confirmed, and a test received. */
export const sendNumberRequest = defineJob({
  name: 'send_number_request',
  queue: 'upkeep',
  payload: Type.Object({ orgId: Type.String(), userId: Type.String() }),
  key: ({ orgId, userId }) => `${orgId}:${userId}`,
  attempts: 8,
  backoff: { firstDelayMs: 1_000, maxDelayMs: 60_000 },
});
