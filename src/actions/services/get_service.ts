import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { CLOSED, IdText } from '#actions/fields.ts';
import { readServiceWithKeys, ServiceWithKeysView } from '#actions/services/view.ts';

export const getService = defineAction({
  name: 'get_service',
  summary: 'Return one service with its enabled capabilities, ingestion key and DSN.',
  permission: 'services:view',
  effect: 'read',
  input: Type.Object({ serviceId: IdText }, CLOSED),
  result: ServiceWithKeysView,
  async handle({ serviceId }, context) {
    const service = await context.stores.services.get(context.caller.orgId, serviceId);
    return await readServiceWithKeys(service, context);
  },
});
