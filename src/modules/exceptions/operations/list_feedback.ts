import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText, nullable, Timestamp } from '#actions/fields.ts';
import { toTimestamp } from '#kernel/time.ts';

const FEEDBACK_MAX = 100;

/** Lists feedback of users: about events that are stored, about events that never came, and about none. */
export const listFeedback = defineAction({
  name: 'list_feedback',
  consoleOnly: true,
  summary: `List what users of a service's application wrote, the newest ${FEEDBACK_MAX}.`,
  permission: 'exceptions:view',
  effect: 'read',
  input: Type.Object({ serviceId: IdText }, STRICT),
  result: Type.Object({
    feedback: Type.Array(
      Type.Object({
        eventId: nullable(Type.String({ description: 'the event that it is about; it may never have come' })),
        name: nullable(Type.String()),
        email: nullable(Type.String()),
        comments: Type.String(),
        url: nullable(Type.String({ description: 'the page on which it was written' })),
        at: Timestamp,
        attachments: Type.Array(Type.Object({ attachmentId: Type.String(), name: Type.String() })),
      }),
      { description: 'newest first' },
    ),
    total: Type.Integer({ minimum: 0 }),
  }),
  example: { serviceId: EXAMPLE_IDS.serviceId },
  async handle({ serviceId }, { caller, stores }) {
    const service = await stores.services.get(caller.orgId, serviceId);
    const { feedback, total } = await stores.eventExtras.listFeedbackOfService(service.id, FEEDBACK_MAX);
    const ids = feedback.flatMap(({ eventId, feedbackId }) => eventId ?? feedbackId ?? []);
    const files = await stores.eventExtras.listAttachmentsOf(service.id, ids);
    return {
      feedback: feedback.map(({ eventId, feedbackId, name, email, comments, url, createdAt }) => ({
        eventId,
        name,
        email,
        comments,
        url,
        at: toTimestamp(createdAt),
        attachments: files
          .filter((file) => file.eventId === (eventId ?? feedbackId))
          .map((file) => ({ attachmentId: file.id, name: file.name })),
      })),
      total,
    };
  },
});
