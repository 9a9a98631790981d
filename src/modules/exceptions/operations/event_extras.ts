import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS, IdText, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { notFound } from '#kernel/errors.ts';
import { toTimestamp } from '#kernel/time.ts';

/** Lists the files and the feedback that belong to an event without being part of it. */
export const listEventExtras = defineOperation({
  name: 'list_event_extras',
  summary: 'List the files that came with an exception event and what users wrote about it.',
  permission: 'exceptions:view',
  effect: 'read',
  input: StrictObject({ groupId: IdText, eventId: Type.String({ pattern: '^[0-9a-f]{32}$' }) }),
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
  example: { eventId: '4c1d7f0e9b2a4c8d8e6f5a3b2c1d0e9f' },
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

/** Reads one file, at most 2 MiB. */
export const readEventAttachment = defineOperation({
  name: 'read_event_attachment',
  summary: 'Return a file that came with an event of an exception group, or with feedback to a service.',
  permission: 'exceptions:view',
  effect: 'read',
  input: StrictObject({
    groupId: Type.Optional(IdText),
    serviceId: Type.Optional(IdText),
    attachmentId: Type.String({ maxLength: 36 }),
  }),
  result: Type.Object({ name: Type.String(), content: Type.String({ description: 'in base64' }) }),
  validate: ({ groupId, serviceId }) =>
    groupId === undefined && serviceId === undefined
      ? [{ path: 'groupId', message: 'is required, or serviceId for a file of feedback' }]
      : [],
  example: {
    groupId: EXAMPLE_IDS.groupId,
    serviceId: EXAMPLE_IDS.serviceId,
    attachmentId: 'b7f4c1de-4f0a-4c43-9c5e-0d0f8b6f2a11',
  },
  async handle({ groupId, serviceId, attachmentId }, { caller, stores, installation, now }) {
    const { orgId } = caller;
    const group = groupId === undefined ? null : await stores.exceptionGroups.get(orgId, groupId, now);
    const service = serviceId === undefined ? null : await stores.services.get(orgId, serviceId);
    if (group !== null && service !== null && group.serviceId !== service.id) {
      throw notFound('groupId', 'exception group of this service');
    }
    const owner = group?.serviceId ?? service?.id;
    if (owner === undefined) throw notFound('groupId', 'exception group');
    const attachment = await stores.eventExtras.findAttachment(owner, attachmentId);
    if (attachment === null) throw notFound('attachmentId', 'attachment');
    return {
      name: attachment.name,
      content: installation.ciphers.eventAttachments.open(attachment.content).toString('base64'),
    };
  },
});

const FEEDBACK_MAX = 100;

/** Lists feedback of users: about events that are stored, about events that never came, and about none. */
export const listFeedback = defineOperation({
  name: 'list_feedback',
  summary: `List what users of a service's application wrote, the newest ${FEEDBACK_MAX}.`,
  permission: 'exceptions:view',
  effect: 'read',
  input: StrictObject({ serviceId: IdText }),
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
