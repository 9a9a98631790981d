import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { IdText, STRICT } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import { PlaceDeliveryView, toDeliveryView } from '#modules/places/view.ts';

export const redeliverToPlace = defineAction({
  name: 'redeliver_to_place',
  consoleOnly: true,
  summary:
    'Send a delivery again: a webhook gets the same body under the same id, a chat the state that the incident has now.',
  permission: 'organization:manage',
  effect: 'write',
  input: Type.Object({ deliveryId: IdText }, STRICT),
  result: PlaceDeliveryView,
  conflict: 'the place is switched off',
  example: { deliveryId: IDS.deliveryId },
  async handle({ deliveryId }, { caller, stores, now, record }) {
    const delivery = await stores.placeDeliveries.lock(caller.orgId, deliveryId);
    const place = await stores.places.get(caller.orgId, delivery.placeId);
    if (!place.isOn) throw new AppError('conflict', 'the place is switched off; switch it on first');
    await stores.placeDeliveries.redeliver(delivery.id, now);
    record({ target: delivery.placeId, before: null, after: { redelivered: delivery.id } });
    return toDeliveryView(await stores.placeDeliveries.lock(caller.orgId, delivery.id));
  },
});
