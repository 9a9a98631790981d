import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { CLOSED, IdText } from '#actions/fields.ts';
import { toMaintenanceView } from '#actions/rules/maintenance_view.ts';
import { renewQuiet } from '#incidents/paging_start.ts';

export const deleteMaintenance = defineAction({
  name: 'delete_maintenance',
  consoleOnly: true,
  summary: 'End a maintenance window, or call it off. Incidents that waited for its end page now.',
  permission: 'oncall:edit',
  effect: 'delete',
  input: Type.Object({ maintenanceId: IdText }, CLOSED),
  result: Type.Object({ deleted: Type.Literal(true), maintenanceId: IdText }),
  example: { maintenanceId: 'maintenance_01kdwm4a1b2c3d4e5f6g7h8j9m' },
  async handle({ maintenanceId }, context) {
    const { stores, caller, now, record } = context;
    await stores.maintenance.hold(caller.orgId);
    const row = await stores.maintenance.get(caller.orgId, maintenanceId);
    await stores.maintenance.delete(row.id);
    await renewQuiet(context, caller.orgId);
    record({ target: row.id, before: toMaintenanceView(row, now), after: null });
    return { deleted: true as const, maintenanceId: row.id };
  },
});
