import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { IdText, nullable, StrictObject } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import { toTimestamp } from '#kernel/time.ts';
import { DELIVERY_STATUSES } from '#modules/places/decide/delivery.ts';
import { PlaceDeliveryView, toDeliveryView } from '#modules/places/view.ts';

const PAGE = 50;

export const listPlaceDeliveries = defineOperation({
  name: 'list_place_deliveries',
  summary: 'List the deliveries to a place, newest first, with what was sent and what the place answered.',
  permission: 'organization:manage',
  effect: 'read',
  input: StrictObject({
    placeId: IdText,
    status: Type.Optional(Type.Enum([...DELIVERY_STATUSES])),
    before: Type.Optional(Type.Integer({ minimum: 1, description: 'number of the last delivery of the page before' })),
  }),
  result: Type.Object({
    placeId: IdText,
    deliveries: Type.Array(PlaceDeliveryView),
    next: nullable(Type.Integer({ description: 'what is given as before for the next page; null on the last' })),
  }),
  example: { status: 'sent', before: 1_000 },
  async handle({ placeId, status, before }, { caller, stores }) {
    const place = await stores.places.get(caller.orgId, placeId);
    const page = { before: before ?? null, status: status ?? null, limit: PAGE + 1 };
    const deliveries = await stores.placeDeliveries.list(place.id, page);
    const shown = deliveries.slice(0, PAGE);
    return {
      placeId: place.id,
      deliveries: shown.map(toDeliveryView),
      next: deliveries.length > PAGE ? (shown.at(-1)?.number ?? null) : null,
    };
  },
});

export const redeliverToPlace = defineOperation({
  name: 'redeliver_to_place',
  summary:
    'Send a delivery again: a webhook gets the same body under the same id, a chat the state that the incident has now.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({ deliveryId: IdText }),
  result: PlaceDeliveryView,
  conflict: 'the place is switched off',
  async handle({ deliveryId }, { caller, stores, now, record }) {
    const delivery = await stores.placeDeliveries.lock(caller.orgId, deliveryId);
    const place = await stores.places.get(caller.orgId, delivery.placeId);
    if (!place.isOn) throw new AppError('conflict', 'the place is switched off; switch it on first');
    await stores.placeDeliveries.redeliver(delivery.id, now);
    record({ target: delivery.placeId, before: null, after: { redelivered: delivery.id } });
    return toDeliveryView(await stores.placeDeliveries.lock(caller.orgId, delivery.id));
  },
});

export const testPlace = defineOperation({
  name: 'test_place',
  summary: 'Send a test message to a place. Its deliveries say what came of it.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({ placeId: IdText }),
  result: Type.Object({ placeId: IdText, source: Type.String({ description: 'marks the delivery' }) }),
  conflict: 'the place is switched off',
  async handle({ placeId }, { caller, stores, now, record }) {
    const place = await stores.places.lock(caller.orgId, placeId);
    if (!place.isOn) throw new AppError('conflict', 'the place is switched off; switch it on first');
    const source = `test ${toTimestamp(now)}`;
    const test = { orgId: place.orgId, placeId: place.id, incidentId: null, noteId: null, event: 'test' } as const;
    await stores.placeDeliveries.insert([{ ...test, source }], now);
    record({ target: place.id, before: null, after: { test: source } });
    return { placeId: place.id, source };
  },
});
