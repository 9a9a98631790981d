import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, StrictObject } from '#actions/fields.ts';
import { renewCapability } from '#modules/capabilities/renew_capability.ts';
import { toServiceView } from '#modules/services/view.ts';
import { CAPABILITIES } from '#modules/capabilities/decide/capability.ts';
import { purgeService } from '#storage/queue/jobs.ts';

export const deleteService = defineAction({
  name: 'delete_service',
  summary:
    'Delete a service and all its data: rules, incidents, exceptions, metrics and dashboards. This cannot be undone.',
  guidance: 'Ask your user first.',
  permission: 'services:delete',
  effect: 'delete',
  stepUp: true,
  input: StrictObject({ serviceId: IdText }),
  result: Type.Object({ deleted: Type.Literal(true), serviceId: IdText }),
  example: { serviceId: IDS.serviceId },
  exampleResult: { deleted: true, serviceId: IDS.serviceId },
  async handle({ serviceId }, { stores, caller, now, record, enqueue }) {
    const row = await stores.services.lock(caller.orgId, serviceId);
    const before = toServiceView(await stores.services.get(caller.orgId, serviceId));
    for (const capability of CAPABILITIES) await renewCapability(stores.capabilities, row, capability, now);
    row.deletedAt = now;
    await stores.services.save(row, now);
    record({ target: row.id, before, after: null });
    enqueue(purgeService, { serviceId: row.id });
    return { deleted: true as const, serviceId: row.id };
  },
});
