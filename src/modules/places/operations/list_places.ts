import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';
import { PlaceView, toPlaceView } from '#modules/places/view.ts';

export const listPlaces = defineAction({
  name: 'list_places',
  consoleOnly: true,
  summary: 'List the places where incidents are announced, and how each fares.',
  permission: 'organization:view',
  effect: 'read',
  input: Type.Object({}, STRICT),
  result: Type.Object({ places: Type.Array(PlaceView) }),
  example: {},
  async handle(_input, { caller, stores, baseUrl }) {
    const places = await stores.places.list(caller.orgId);
    const waiting = await stores.placeDeliveries.countWaiting(caller.orgId);
    return { places: places.map((place) => toPlaceView(place, waiting.get(place.id) ?? 0, baseUrl)) };
  },
});
