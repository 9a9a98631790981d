import { type Static, Type } from 'typebox';

import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import type { Cipher } from '#auth/cipher.ts';
import { keysOf } from '#kernel/records.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { LEVELS } from '#modules/exceptions/decide/level.ts';
import { DELIVERY_STATUSES } from '#modules/places/decide/delivery.ts';
import { PLACE_EVENTS } from '#modules/places/decide/place_content.ts';
import {
  answersUrlOf,
  PLACE_KINDS,
  placeDeclarationOf,
  type PlaceKind,
  type PlaceSettings,
} from '#modules/places/decide/place_kinds.ts';
import { areRoutes } from '#modules/places/decide/place_route.ts';
import type { PlaceDeliveryRow } from '#modules/places/store/place_delivery_store.ts';
import type { PlaceRow } from '#modules/places/store/place_store.ts';

const PlaceRouteView = Type.Object({
  serviceId: nullable(Type.String({ description: 'only of this service; null: of any' })),
  teamId: nullable(Type.String({ description: 'only of this team; null: of any' })),
  atLeast: nullable(Type.Enum([...LEVELS], { description: 'only of this severity or worse; null: of any' })),
});

export const PlaceView = Type.Object({
  placeId: IdText,
  kind: Type.Enum([...PLACE_KINDS]),
  title: Type.String({ description: 'kind of place, in words' }),
  name: Type.String(),
  settings: Type.Record(Type.String(), Type.String(), { description: 'settings that are no secrets' }),
  routes: Type.Array(PlaceRouteView, { description: 'a place is told of the incidents that any of them takes' }),
  isOn: Type.Boolean(),
  switchedOffAt: nullable(
    Type.String({ format: 'date-time', description: 'when it was switched off after a day of failures' }),
  ),
  lastSuccessAt: nullable(Timestamp),
  failingSince: nullable(Timestamp),
  lastFailure: nullable(Type.String({ description: 'why the last message was not taken' })),
  waiting: Type.Integer({ description: 'deliveries that wait' }),
  answersAddress: nullable(
    Type.String({ description: 'address to which the vendor sends presses and commands; null for none' }),
  ),
  createdAt: Timestamp,
});

export function toPlaceView(place: PlaceRow, waiting: number, baseUrl: string): Static<typeof PlaceView> {
  const { id: placeId, kind, name, shown, routes, isOn, lastFailure } = place;
  const { title, hasAnswers } = placeDeclarationOf(kind);
  return {
    placeId,
    kind,
    title,
    name,
    settings: { ...shown },
    // Routes that cannot be read, whoever wrote them, have to be set again.
    routes: (areRoutes(routes) ? routes : []).map((route) => ({
      ...route,
      atLeast: LEVELS.find((level) => level === route.atLeast) ?? null,
    })),
    isOn,
    switchedOffAt: toTimestampOrNull(place.switchedOffAt),
    lastSuccessAt: toTimestampOrNull(place.lastSuccessAt),
    failingSince: toTimestampOrNull(place.failingSince),
    lastFailure,
    waiting,
    answersAddress: hasAnswers ? answersUrlOf(baseUrl, place) : null,
    createdAt: toTimestamp(place.createdAt),
  };
}

export const PlaceDeliveryView = Type.Object({
  deliveryId: IdText,
  number: Type.Integer(),
  placeId: IdText,
  incidentId: nullable(Type.String({ description: 'null for a test' })),
  event: Type.Enum([...PLACE_EVENTS]),
  status: Type.Enum([...DELIVERY_STATUSES], {
    description: 'superseded: a later state of the incident was sent; dead: it is not tried again',
  }),
  tries: Type.Integer(),
  nextTryAt: nullable(Timestamp),
  createdAt: Timestamp,
  endedAt: nullable(Timestamp),
  failure: nullable(Type.String()),
  body: nullable(Type.String({ description: 'what was sent last' })),
  answerStatus: nullable(Type.Integer({ description: 'HTTP status of the last answer' })),
  answer: nullable(Type.String({ description: 'the beginning of the last answer, as the place sent it' })),
});

export function toDeliveryView(delivery: PlaceDeliveryRow): Static<typeof PlaceDeliveryView> {
  const { id: deliveryId, number, placeId, incidentId, event, status, tries, failure } = delivery;
  const { body, answerStatus, answer } = delivery;
  return {
    deliveryId,
    number,
    placeId,
    incidentId,
    event,
    status,
    tries,
    failure,
    body,
    answerStatus,
    answer,
    nextTryAt: status === 'waiting' ? toTimestamp(delivery.dueAt) : null,
    createdAt: toTimestamp(delivery.createdAt),
    endedAt: toTimestampOrNull(delivery.endedAt),
  };
}

export function auditedPlace({ kind, name, shown, routes, isOn }: PlaceRow): object {
  return { kind, name, ...shown, routes, isOn };
}

export function sealSettings(cipher: Cipher, settings: PlaceSettings): Buffer {
  return cipher.encrypt(JSON.stringify(settings));
}

export function openSettings(cipher: Cipher, sealed: Buffer): PlaceSettings {
  return JSON.parse(cipher.decrypt(sealed)) as PlaceSettings;
}

/** Returns the settings that are no secrets; of an address, its host. */
export function shownSettings(kind: PlaceKind, settings: PlaceSettings): Readonly<Record<string, string>> {
  const { fields } = placeDeclarationOf(kind);
  const shown: Record<string, string> = {};
  for (const name of keysOf(fields)) {
    const value = settings[name];
    if (value === undefined) continue;
    if (fields[name]?.isSecret === false) shown[name] = value;
    else if (fields[name]?.check === 'address') shown['host'] = new URL(value).host;
  }
  return shown;
}
