import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { notFound } from '#kernel/errors.ts';

/** Reads one file, at most 2 MiB. */
export const readEventAttachment = defineAction({
  name: 'read_event_attachment',
  consoleOnly: true,
  summary: 'Return a file that came with an event of an exception group, or with feedback to a service.',
  permission: 'exceptions:view',
  effect: 'read',
  input: Type.Object(
    {
      groupId: Type.Optional(IdText),
      serviceId: Type.Optional(IdText),
      attachmentId: Type.String({ maxLength: 36 }),
    },
    STRICT,
  ),
  result: Type.Object({ name: Type.String(), content: Type.String({ description: 'in base64' }) }),
  meaning: ({ groupId, serviceId }) =>
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
