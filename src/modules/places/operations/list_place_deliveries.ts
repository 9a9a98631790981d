import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { IdText, nullable, STRICT } from '#actions/fields.ts';
import { DELIVERY_STATUSES } from '#modules/places/decide/delivery.ts';
import { PlaceDeliveryView, toDeliveryView } from '#modules/places/view.ts';

const PAGE = 50;

export const listPlaceDeliveries = defineAction({
  name: 'list_place_deliveries',
  consoleOnly: true,
  summary: 'List the deliveries to a place, newest first, with what was sent and what the place answered.',
  permission: 'organization:manage',
  effect: 'read',
  input: Type.Object(
    {
      placeId: IdText,
      status: Type.Optional(Type.Enum([...DELIVERY_STATUSES])),
      before: Type.Optional(
        Type.Integer({ minimum: 1, description: 'number of the last delivery of the page before' }),
      ),
    },
    STRICT,
  ),
  result: Type.Object({
    placeId: IdText,
    deliveries: Type.Array(PlaceDeliveryView),
    next: nullable(Type.Integer({ description: 'what is given as before for the next page; null on the last' })),
  }),
  example: { placeId: IDS.placeId, status: 'sent', before: 1_000 },
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
