import { p } from '@mikro-orm/postgresql';

import type { SessionOutcome } from '#modules/exceptions/decide/sessions.ts';
import { bigint, bytes, id, instant, table } from '#storage/postgres/entities/column_types.ts';

/** Items besides events that were not kept, or not sent by their client: their number within an hour. */
export const SentItemEntity = table('sent_items', {
  serviceId: id<'service'>().primary(),
  /** Kind of item, such as `transaction`, `replay`, `log`; `event` for events that were left out on purpose. */
  kind: p.text().primary(),
  /** `not_kept`; `client:…` as the client says why it sent nothing. */
  reason: p.text().primary(),
  hour: instant().primary(),
  count: bigint(),
  lastAt: instant(),
});

/** Sessions that began within an hour, and how they ended. */
export const ReleaseSessionsEntity = table('release_sessions', {
  serviceId: id<'service'>().primary(),
  release: p.text().primary(),
  /** Empty where the client named none. */
  environment: p.text().primary(),
  hour: instant().primary(),
  sessions: bigint(),
  errored: bigint(),
  crashed: bigint(),
  abnormal: bigint(),
});

/** A session that did not go well, counted in the row of its release and hour. */
export const SessionOutcomeEntity = table('session_outcomes', {
  serviceId: id<'service'>().primary(),
  sessionId: p.text().primary(),
  outcome: p.text().$type<SessionOutcome>(),
  release: p.text(),
  environment: p.text(),
  hour: instant(),
});

/** A file that came with an event, encrypted. */
export const EventAttachmentEntity = table('event_attachments', {
  id: p.text().primary(),
  serviceId: id<'service'>(),
  eventId: p.text(),
  name: p.text(),
  contentType: p.text().strictNullable(),
  /** Size of the file as it was sent, in bytes. */
  bytes: p.integer(),
  content: bytes(),
  createdAt: instant(),
});

/** Feedback of a user of the application, about an event or none. */
export const EventFeedbackEntity = table('event_feedback', {
  id: p.text().primary(),
  serviceId: id<'service'>(),
  eventId: p.text().strictNullable(),
  name: p.text().strictNullable(),
  email: p.text().strictNullable(),
  comments: p.text(),
  /** Its own id, which files that were sent with feedback about no event bear as the id of their event. */
  feedbackId: p.text().strictNullable(),
  url: p.text().strictNullable(),
  createdAt: instant(),
});
