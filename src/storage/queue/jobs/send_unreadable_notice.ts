import { Type } from 'typebox';

import { defineJob } from '#kernel/job.ts';

/** Mails an owner which stored rows of the organization cannot be read. */
export const sendUnreadableNotice = defineJob({
  name: 'send_unreadable_notice',
  queue: 'upkeep',
  payload: Type.Object({ orgId: Type.String(), userId: Type.String() }),
  key: ({ orgId, userId }) => `${orgId}:${userId}`,
  attempts: 8,
  backoff: { firstDelayMs: 1_000, maxDelayMs: 60_000 },
});
