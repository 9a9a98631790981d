import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { toMaintenanceView } from '#modules/maintenance/operations/maintenance_view.ts';
import { nextMaintenance } from '#modules/maintenance/decide/maintenance.ts';
import { renewSuppression } from '#modules/incidents/paging/suppression.ts';
import { isAtOrBefore } from '#kernel/time.ts';

export const deleteMaintenance = defineAction({
  name: 'delete_maintenance',
  consoleOnly: true,
  summary:
    'End or cancel a maintenance window. Incidents that waited for its end page now. One that has begun stays in the list as over, for 30 days; one that is over, or has not begun, is removed.',
  permission: 'oncall:edit',
  effect: 'delete',
  input: Type.Object({ maintenanceId: IdText }, STRICT),
  result: Type.Object({ deleted: Type.Literal(true), maintenanceId: IdText }),
  example: { maintenanceId: EXAMPLE_IDS.maintenanceId },
  async handle({ maintenanceId }, context) {
    const { stores, caller, now, record } = context;
    await stores.maintenance.hold(caller.orgId);
    const row = await stores.maintenance.get(caller.orgId, maintenanceId);
    const before = toMaintenanceView(row, now);
    const hasBegun = isAtOrBefore(row.startsAt, now) && nextMaintenance(row, now) !== null;
    const ended = hasBegun ? { ...row, endsAt: now, updatedAt: now } : null;
    if (ended === null) await stores.maintenance.delete(row.id);
    else await stores.maintenance.save(ended);
    await renewSuppression(context, caller.orgId);
    record({ target: row.id, before, after: ended && toMaintenanceView(ended, now) });
    return { deleted: true as const, maintenanceId: row.id };
  },
});
