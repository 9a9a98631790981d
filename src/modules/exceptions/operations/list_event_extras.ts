import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText, nullable, Timestamp } from '#actions/fields.ts';
import { toTimestamp } from '#kernel/time.ts';

/** Lists the files and the feedback that belong to an event without being part of it. */
export const listEventExtras = defineAction({
  name: 'list_event_extras',
  consoleOnly: true,
  summary: 'List the files that came with an exception event and what users wrote about it.',
  permission: 'exceptions:view',
  effect: 'read',
  input: Type.Object({ groupId: IdText, eventId: Type.String({ pattern: '^[0-9a-f]{32}$' }) }, STRICT),
  result: Type.Object({
    attachments: Type.Array(
      Type.Object({
        attachmentId: Type.String(),
        name: Type.String(),
        contentType: nullable(Type.String()),
        bytes: Type.Integer(),
      }),
    ),
    feedback: Type.Array(
      Type.Object({
        name: nullable(Type.String()),
        email: nullable(Type.String()),
        comments: Type.String(),
        at: Timestamp,
      }),
      { description: 'newest first' },
    ),
  }),
  example: { groupId: EXAMPLE_IDS.groupId, eventId: '4c1d7f0e9b2a4c8d8e6f5a3b2c1d0e9f' },
  async handle({ groupId, eventId }, { caller, stores, now }) {
    const { serviceId } = await stores.exceptionGroups.get(caller.orgId, groupId, now);
    const [attachments, feedback] = [
      await stores.eventExtras.listAttachments(serviceId, eventId),
      await stores.eventExtras.listFeedback(serviceId, eventId),
    ];
    return {
      attachments: attachments.map(({ id, name, contentType, bytes }) => ({
        attachmentId: id,
        name,
        contentType,
        bytes,
      })),
      feedback: feedback.map(({ name, email, comments, createdAt }) => {
        return { name, email, comments, at: toTimestamp(createdAt) };
      }),
    };
  },
});
