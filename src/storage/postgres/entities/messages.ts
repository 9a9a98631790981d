import type { Id } from '#kernel/ids.ts';
import { p } from '@mikro-orm/postgresql';

import type { NewsEvent } from '#modules/incidents/decide/incident.ts';
import type { Channel } from '#modules/contacts/decide/channel.ts';
import type { NotificationStatus } from '#modules/policies/decide/recipients.ts';
import { bigint, id, instant, table, text } from '#storage/postgres/entities/column_types.ts';

/**
 * `page` wakes somebody; `update` tells somebody who was paged what became of it; a `digest` stands for several of
 * these; a `test` was asked for by its receiver; the others are about a phone number. Only the first two are about one
 * incident, and in its log.
 */
export type NotificationKind =
  | 'page'
  | 'update'
  | 'digest'
  | 'test'
  | 'code'
  | 'number_changed'
  | 'member_number_changed';

export const NotificationEntity = table('notifications', {
  id: id<'notification'>().primary(),
  orgId: id<'org'>(),
  /** Null for a digest and for messages about an account. */
  incidentId: id<'incident'>().strictNullable(),
  stepIndex: p.integer().strictNullable(),
  kind: text<NotificationKind>(),
  userId: id<'user'>(),
  channel: text<Channel>(),
  address: p.text().strictNullable(),
  /** `sending` is what the log shows as `queued`. */
  status: text<NotificationStatus | 'sending'>(),
  reason: p.text().strictNullable(),
  attempts: p.integer().default(0),
  providerId: p.text().strictNullable(),
  dueAt: instant().strictNullable(),
  leaseUntil: instant().strictNullable(),
  createdAt: instant(),
  updatedAt: instant(),
  /** Event that an `update` tells. */
  news: text<NewsEvent>().strictNullable(),
  /** The proposal of an agent that it asks about. */
  proposalId: id<'proposal'>().strictNullable(),
  /** The digest that it waits for, or left with. */
  digestId: id<'notification'>().strictNullable(),
  /** Time at which it was let through to its channel. */
  releasedAt: instant().strictNullable(),
  /** The span that wrote it; null when nothing was traced. */
  traceparent: p.text().strictNullable(),
  /**
   * Time at which its receiver pressed a key, replied or used its link; null if nothing shows that a person had it.
   */
  answeredAt: instant().strictNullable(),
});

export const InboundMessageEntity = table('inbound_messages', {
  providerId: p.text().primary(),
  /** Null if none, or none yet. */
  answer: p.text().strictNullable(),
  receivedAt: instant(),
});

export const SmsOptOutEntity = table('sms_opt_outs', { phone: p.text().primary(), since: instant() });

/** The number by which a phone answers about an incident, or a proposal about it. */
export const ReplyNumberEntity = table('reply_numbers', {
  phone: p.text().primary(),
  kind: text<'incident' | 'proposal'>().primary(),
  number: bigint().primary(),
  incidentId: id<'incident'>(),
  proposalId: id<'proposal'>().strictNullable(),
});

export const EndedCallEntity = table('ended_calls', {
  providerId: p.text().primary(),
  notificationId: id<'notification'>(),
  endedAt: instant(),
});

/** A browser that shows messages to its user. */
export const PushSubscriptionEntity = table('push_subscriptions', {
  id: id<'subscription'>().primary(),
  userId: id<'user'>(),
  endpoint: p.text(),
  p256dh: p.text(),
  auth: p.text(),
  label: p.text(),
  /** Organizations whose messages it gets: those whose provider had signed the person in; null for all. */
  orgIds: p.array().$type<Id<'org'>[]>().strictNullable(),
  createdAt: instant(),
});

export const ConfirmedNumberEntity = table('confirmed_numbers', {
  userId: id<'user'>().primary(),
  phone: p.text().primary(),
  confirmedAt: instant(),
  /** Id at the provider of the message that had the code; null if that is not known any more. */
  codeProviderId: p.text().nullable(),
});

export const PhoneCodeEntity = table('phone_codes', {
  notificationId: id<'notification'>().primary(),
  userId: id<'user'>(),
  phone: p.text(),
  code: p.text(),
  wrongTries: p.integer().default(0),
  expiresAt: instant(),
});

export const ReplyPinEntity = table('reply_pins', { userId: id<'user'>().primary(), pinHash: p.text() });
