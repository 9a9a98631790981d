import { Type } from 'typebox';

import { defineJob } from '#kernel/job.ts';

/** Sends one entry of the notification log. The row decides whether it is still to be sent. */
export const deliverPage = defineJob({
  name: 'deliver_page',
  queue: 'paging',
  payload: Type.Object({ notificationId: Type.String() }),
  key: ({ notificationId }) => notificationId,
  attempts: 8,
  backoff: { firstDelayMs: 500, maxDelayMs: 30_000 },
});
