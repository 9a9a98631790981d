import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';

export const revokeAlertKey = defineAction({
  name: 'revoke_alert_key',
  consoleOnly: true,
  summary: 'Revoke the alert key of a service: its tools are refused within a second, until a new one is made.',
  permission: 'services:edit',
  effect: 'delete',
  stepUp: true,
  input: Type.Object({ serviceId: IdText }, STRICT),
  result: Type.Object({ serviceId: IdText, revoked: Type.Literal(true) }),
  example: { serviceId: IDS.serviceId },
  async handle({ serviceId }, context) {
    const { stores, caller, now } = context;
    const service = await stores.services.lock(caller.orgId, serviceId);
    const wasThere = await stores.alertKeys.revoke(service.id, now);
    if (wasThere)
      context.record({ target: service.id, before: { alertKey: 'issued' }, after: { alertKey: 'revoked' } });
    return { serviceId: service.id, revoked: true as const };
  },
});
