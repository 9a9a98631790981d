import { Type } from 'typebox';

import { defineJob } from '#kernel/job.ts';

/** Mails a person what has happened to an exception that they asked to hear about: an entry of its history. */
export const sendExceptionNotice = defineJob({
  name: 'send_exception_notice',
  queue: 'upkeep',
  payload: Type.Object({
    orgId: Type.String(),
    groupId: Type.String(),
    activityId: Type.String(),
    userId: Type.String(),
  }),
  key: ({ activityId, userId }) => `${activityId}:${userId}`,
  attempts: 8,
  backoff: { firstDelayMs: 1_000, maxDelayMs: 60_000 },
});
