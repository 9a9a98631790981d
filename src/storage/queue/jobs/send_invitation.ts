import { Type } from 'typebox';

import { defineJob } from '#kernel/job.ts';

/** Mails the link of an invitation. The link is encrypted: the contents of a queue are not secret. */
export const sendInvitation = defineJob({
  name: 'send_invitation',
  queue: 'upkeep',
  payload: Type.Object({ invitationId: Type.String(), orgId: Type.String(), sealedLink: Type.String() }),
  key: ({ invitationId }) => invitationId,
  attempts: 8,
  backoff: { firstDelayMs: 1_000, maxDelayMs: 60_000 },
});
