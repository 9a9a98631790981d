import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT } from '#actions/fields.ts';
import {
  MAINTENANCE_EXAMPLE,
  MAINTENANCE_FIELDS,
  readMaintenance,
} from '#modules/maintenance/operations/maintenance_input.ts';
import { MaintenanceView, toMaintenanceView } from '#modules/maintenance/operations/maintenance_view.ts';
import { renewSuppression } from '#modules/incidents/paging/suppression.ts';
import { AppError } from '#kernel/errors.ts';
import { MAINTENANCE_MAX } from '#modules/maintenance/store.ts';

const KEPT_HOURS = 24 * 30;

export const createMaintenance = defineAction({
  name: 'create_maintenance',
  consoleOnly: true,
  summary:
    'Let incidents of a service, of a rule, or of rules that select a label page nobody for a time, once or recurring. They open all the same, and page when it ends if they are still open.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object(MAINTENANCE_FIELDS, STRICT),
  result: MaintenanceView,
  conflict: 'the organization has 200 maintenance windows',
  example: { ...MAINTENANCE_EXAMPLE, target: { serviceId: EXAMPLE_IDS.serviceId } },
  async handle(input, context) {
    const { stores, caller, now, record } = context;
    const { orgId } = caller;
    const wanted = await readMaintenance(input, context);
    await stores.maintenance.hold(orgId);
    await stores.maintenance.prune(orgId, now.subtract({ hours: KEPT_HOURS }));
    if ((await stores.maintenance.list(orgId)).length >= MAINTENANCE_MAX) {
      throw new AppError('conflict', `there are ${MAINTENANCE_MAX} maintenance windows; delete one that is over`);
    }
    const row = await stores.maintenance.insert(wanted, now);
    await renewSuppression(context, orgId);
    const after = toMaintenanceView(row, now);
    record({ target: row.id, before: null, after });
    return after;
  },
});
