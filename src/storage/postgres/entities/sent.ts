import { defineEntity, p } from '@mikro-orm/postgresql';

import { bigint, bytes, id, instant } from '#storage/postgres/entities/column_types.ts';

/** What came besides events and was not kept, or was not sent by its client: how much of it within an hour. */
export const SentItemEntity = defineEntity({
  name: 'SentItem',
  tableName: 'sent_items',
  properties: {
    serviceId: id<'service'>().primary(),
    /** Such as `transaction`, `replay`, `log`; `event` for those that were left out on purpose. */
    kind: p.text().primary(),
    /** `not_kept`; `client:…` as the client says why it sent nothing. */
    reason: p.text().primary(),
    hour: instant().primary(),
    count: bigint(),
    lastAt: instant(),
  },
});

/** Sessions that began within an hour, and how they ended. */
export const ReleaseSessionsEntity = defineEntity({
  name: 'ReleaseSessions',
  tableName: 'release_sessions',
  properties: {
    serviceId: id<'service'>().primary(),
    release: p.text().primary(),
    /** Empty where the client named none. */
    environment: p.text().primary(),
    hour: instant().primary(),
    sessions: bigint(),
    errored: bigint(),
    crashed: bigint(),
    abnormal: bigint(),
  },
});

/** A file that came with an event, encrypted. */
export const EventAttachmentEntity = defineEntity({
  name: 'EventAttachment',
  tableName: 'event_attachments',
  properties: {
    id: p.text().primary(),
    serviceId: id<'service'>(),
    eventId: p.text(),
    name: p.text(),
    contentType: p.text().strictNullable(),
    /** Of the file as it was sent. */
    bytes: p.integer(),
    content: bytes(),
    createdAt: instant(),
  },
});

/** What a user of the application wrote about an event. */
export const EventFeedbackEntity = defineEntity({
  name: 'EventFeedback',
  tableName: 'event_feedback',
  properties: {
    id: p.text().primary(),
    serviceId: id<'service'>(),
    eventId: p.text(),
    name: p.text().strictNullable(),
    email: p.text().strictNullable(),
    comments: p.text(),
    createdAt: instant(),
  },
});
