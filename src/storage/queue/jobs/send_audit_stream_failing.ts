import { Type } from 'typebox';

import { defineJob } from '#kernel/job.ts';

/** Mails an owner that a stream of the audit log has failed for a day. */
export const sendAuditStreamFailing = defineJob({
  name: 'send_audit_stream_failing',
  queue: 'upkeep',
  payload: Type.Object({ auditStreamId: Type.String(), userId: Type.String() }),
  key: ({ auditStreamId, userId }) => `${auditStreamId}:${userId}`,
  attempts: 8,
  backoff: { firstDelayMs: 1_000, maxDelayMs: 60_000 },
});
