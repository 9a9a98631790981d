import { p } from '@mikro-orm/postgresql';

import type { Role } from '#kernel/permissions.ts';
import type { DeliveryStatus } from '#modules/places/decide/delivery.ts';
import type { MessageReference, PlaceEvent } from '#modules/places/decide/place_content.ts';
import type { PlaceKind } from '#modules/places/decide/place_kinds.ts';
import type { ChatPlace } from '#modules/places/decide/chat_places.ts';
import type { PlaceRoute } from '#modules/places/decide/place_route.ts';
import { bigint, bytes, id, instant, jsonColumn, table, text } from '#storage/postgres/entities/column_types.ts';

export const PlaceEntity = table('places', {
  id: id<'place'>().primary(),
  orgId: id<'org'>(),
  kind: text<PlaceKind>(),
  name: p.text(),
  /** Settings that are no secrets. */
  shown: jsonColumn<Readonly<Record<string, string>>>(),
  /** All settings, encrypted. */
  sealed: bytes(),
  /** Role of whoever entered the settings, and so knows the secrets; null for places from before this was kept. */
  settingsRole: text<Role>().strictNullable(),
  routes: jsonColumn<readonly PlaceRoute[]>(),
  isOn: p.boolean(),
  /** Failures since the last success. */
  failures: p.integer().default(0),
  failingSince: instant().strictNullable(),
  lastFailure: p.text().strictNullable(),
  lastSuccessAt: instant().strictNullable(),
  /** Time at which the product switched it off; null when a person did, or when it is on. */
  switchedOffAt: instant().strictNullable(),
  /** Time until which nothing is sent after a failure. */
  heldUntil: instant().strictNullable(),
  /** Time until which a process has the turn of this place. */
  claimedUntil: instant().strictNullable(),
  createdAt: instant(),
  updatedAt: instant(),
});

/** The message of an incident at a place, which is kept up to date. */
export const PlaceMessageEntity = table('place_messages', {
  placeId: id<'place'>().primary(),
  incidentId: id<'incident'>().primary(),
  reference: jsonColumn<MessageReference>(),
  sentAt: instant(),
});

export const PlaceDeliveryEntity = table('place_deliveries', {
  id: id<'delivery'>().primary(),
  /** Ascends with time for the events of an incident. */
  number: bigint().autoincrement(),
  orgId: id<'org'>(),
  placeId: id<'place'>(),
  /** Null for a test. */
  incidentId: id<'incident'>().strictNullable(),
  noteId: id<'note'>().strictNullable(),
  event: text<PlaceEvent>(),
  /** Event that it announces; unique for a place, so that nothing is announced twice. */
  source: p.text(),
  status: text<DeliveryStatus>(),
  tries: p.integer().default(0),
  dueAt: instant(),
  /** Time after which a failure is the last. */
  expiresAt: instant(),
  createdAt: instant(),
  endedAt: instant().strictNullable(),
  /** Body of the last attempt. */
  body: p.text().strictNullable(),
  answerStatus: p.integer().strictNullable(),
  answer: p.text().strictNullable(),
  failure: p.text().strictNullable(),
});

/** The last entry of the timelines that was announced where it had to be; one row. */
export const PlaceCursorEntity = table('place_cursor', {
  isOnly: p.boolean().primary().default(true),
  timelineId: bigint(),
});

/** The chat account of a person; until a code was typed in the chat, only the code is known. */
export const ChatAccountEntity = table('chat_accounts', {
  id: id<'chataccount'>().primary(),
  orgId: id<'org'>(),
  userId: id<'user'>(),
  kind: text<ChatPlace>(),
  /** Id of the account at the vendor, with its workspace; null while the code was not typed. */
  account: p.text().strictNullable(),
  name: p.text().strictNullable(),
  codeHash: bytes().strictNullable(),
  codeExpiresAt: instant().strictNullable(),
  /** The last presses, so that a replayed one is recognized. */
  presses: jsonColumn<readonly string[]>(),
  createdAt: instant(),
  linkedAt: instant().strictNullable(),
});
