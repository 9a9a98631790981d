import { Type } from 'typebox';

import { defineJob } from '#kernel/job.ts';

/** Mails a person that somebody else has put them on call, or taken a shift from them. */
export const sendDutyNotice = defineJob({
  name: 'send_duty_notice',
  queue: 'upkeep',
  payload: Type.Object({
    orgId: Type.String(),
    userId: Type.String(),
    /** Person who changed it; null for a key of the organization. */
    byUserId: Type.Union([Type.String(), Type.Null()]),
    changes: Type.Array(
      Type.Object({
        scheduleId: Type.String(),
        isOnCall: Type.Boolean(),
        since: Type.String(),
        until: Type.String(),
      }),
    ),
    /** Names the change: of its retries only one is mailed. */
    changeId: Type.String(),
  }),
  key: ({ changeId, userId }) => `${changeId}:${userId}`,
  attempts: 8,
  backoff: { firstDelayMs: 1_000, maxDelayMs: 60_000 },
});
