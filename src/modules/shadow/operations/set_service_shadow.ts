import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { toTimestampOrNull } from '#kernel/time.ts';
import { SHADOW_FIELDS, sinceAfter } from '#modules/shadow/operations/shadow_fields.ts';

export const setServiceShadow = defineAction({
  name: 'set_service_shadow',
  consoleOnly: true,
  summary:
    'Put a service into shadow mode, in which incidents open and say who would be paged while nobody is, or end it.',
  permission: 'oncall:edit',
  effect: 'write',
  stepUp: true,
  input: Type.Object({ serviceId: IdText, enabled: Type.Boolean() }, STRICT),
  result: Type.Object({ serviceId: IdText, ...SHADOW_FIELDS }),
  example: { serviceId: IDS.serviceId, enabled: true },
  async handle({ serviceId, enabled }, { caller, stores, now, record }) {
    const service = await stores.services.lock(caller.orgId, serviceId);
    const before = service.shadowSince;
    const since = sinceAfter(enabled, before, now);
    await stores.shadow.setService(service.id, since, now);
    record({
      target: service.id,
      before: { shadowSince: toTimestampOrNull(before) },
      after: { shadowSince: toTimestampOrNull(since) },
    });
    const openIncidents = await stores.shadow.countOpen(caller.orgId, service.id);
    return { serviceId: service.id, shadowSince: toTimestampOrNull(since), openIncidents };
  },
});
