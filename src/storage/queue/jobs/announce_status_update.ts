import { Type } from 'typebox';

import { defineJob } from '#kernel/job.ts';

/** Makes the mails of an update on a status page, some subscribers at a time: those behind `after`. */
export const announceStatusUpdate = defineJob({
  name: 'announce_status_update',
  queue: 'upkeep',
  payload: Type.Object({ updateId: Type.String(), after: Type.Optional(Type.String()) }),
  key: ({ updateId, after = '' }) => `${updateId}:${after}`,
  attempts: 8,
  backoff: { firstDelayMs: 1_000, maxDelayMs: 60_000 },
});
