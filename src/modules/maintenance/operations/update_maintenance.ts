import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import {
  MAINTENANCE_EXAMPLE,
  MAINTENANCE_FIELDS,
  readMaintenance,
} from '#modules/maintenance/operations/maintenance_input.ts';
import { MaintenanceView, toMaintenanceView } from '#modules/maintenance/operations/maintenance_view.ts';
import { renewSuppression } from '#modules/incidents/paging/suppression.ts';
import { AppError } from '#kernel/errors.ts';

export const updateMaintenance = defineAction({
  name: 'update_maintenance',
  consoleOnly: true,
  summary:
    'Change what a maintenance window is for and when it is in effect, unless somebody has changed it since it was read. Incidents that waited for it follow its new times, or page now.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object(
    {
      maintenanceId: IdText,
      basedOn: Type.String({ maxLength: 40, description: 'the updatedAt of what was read' }),
      ...MAINTENANCE_FIELDS,
    },
    STRICT,
  ),
  result: MaintenanceView,
  conflict: 'somebody has changed the window since it was read',
  example: {
    maintenanceId: EXAMPLE_IDS.maintenanceId,
    basedOn: '2027-02-01T10:00:00.000Z',
    ...MAINTENANCE_EXAMPLE,
    target: { ruleId: EXAMPLE_IDS.ruleId },
  },
  async handle({ maintenanceId, basedOn, ...input }, context) {
    const { stores, caller, now, record } = context;
    await stores.maintenance.hold(caller.orgId);
    const row = await stores.maintenance.get(caller.orgId, maintenanceId);
    const before = toMaintenanceView(row, now);
    if (before.updatedAt !== basedOn) {
      throw new AppError('conflict', 'somebody has changed this window since you opened it');
    }
    const changed = { ...row, ...(await readMaintenance(input, context)), updatedAt: now };
    await stores.maintenance.save(changed);
    await renewSuppression(context, caller.orgId);
    const after = toMaintenanceView(changed, now);
    record({ target: row.id, before, after });
    return after;
  },
});
