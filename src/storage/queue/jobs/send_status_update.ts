import { Type } from 'typebox';

import { defineJob } from '#kernel/job.ts';

/** Mails a subscriber an update on a status page. */
export const sendStatusUpdate = defineJob({
  name: 'send_status_update',
  queue: 'upkeep',
  payload: Type.Object({ updateId: Type.String(), subscriberId: Type.String() }),
  key: ({ updateId, subscriberId }) => `${updateId}:${subscriberId}`,
  yields: true,
  attempts: 6,
  backoff: { firstDelayMs: 1_000, maxDelayMs: 60_000 },
});
