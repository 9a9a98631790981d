import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { IdText, STRICT } from '#actions/fields.ts';
import { auditedPlace } from '#modules/places/view.ts';

export const deletePlace = defineAction({
  name: 'delete_place',
  consoleOnly: true,
  stepUp: true,
  summary: 'Delete a place with its deliveries. Messages that were sent stay where they are.',
  permission: 'organization:manage',
  effect: 'delete',
  input: Type.Object({ placeId: IdText }, STRICT),
  result: Type.Object({ placeId: IdText, deleted: Type.Boolean() }),
  example: { placeId: IDS.placeId },
  async handle({ placeId }, { caller, stores, record }) {
    const place = await stores.places.lock(caller.orgId, placeId);
    await stores.places.delete(place.id);
    record({ target: place.id, before: auditedPlace(place), after: null });
    return { placeId: place.id, deleted: true };
  },
});
