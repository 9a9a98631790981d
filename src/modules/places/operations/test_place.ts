import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { IdText, STRICT } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import { toTimestamp } from '#kernel/time.ts';

export const testPlace = defineAction({
  name: 'test_place',
  consoleOnly: true,
  summary: 'Send a test message to a place. Its deliveries say what came of it.',
  permission: 'organization:manage',
  effect: 'write',
  input: Type.Object({ placeId: IdText }, STRICT),
  result: Type.Object({ placeId: IdText, source: Type.String({ description: 'marks the delivery' }) }),
  conflict: 'the place is switched off',
  example: { placeId: IDS.placeId },
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
