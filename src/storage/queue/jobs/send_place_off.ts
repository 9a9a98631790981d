import { Type } from 'typebox';

import { defineJob } from '#kernel/job.ts';

/** Mails an owner that a place was switched off after a day of failures. */
export const sendPlaceOff = defineJob({
  name: 'send_place_off',
  queue: 'upkeep',
  payload: Type.Object({ placeId: Type.String(), userId: Type.String() }),
  key: ({ placeId, userId }) => `${placeId}:${userId}`,
  attempts: 8,
  backoff: { firstDelayMs: 1_000, maxDelayMs: 60_000 },
});
