import { Type } from 'typebox';

import { defineJob } from '#kernel/job.ts';

/**
 * Mails owners, admins and teams that schedules name a person whom the identity provider has deactivated, or that
 * schedules or policies page one to whom it has given a role that may not answer.
 */
export const sendDeactivationNotice = defineJob({
  name: 'send_deactivation_notice',
  queue: 'upkeep',
  payload: Type.Object({ orgId: Type.String(), userId: Type.String(), noticeId: Type.String() }),
  key: ({ userId, noticeId }) => `${userId}:${noticeId}`,
  attempts: 8,
  backoff: { firstDelayMs: 1_000, maxDelayMs: 60_000 },
});
