import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { CLOSED } from '#actions/fields.ts';
import { MaintenanceView, toMaintenanceView } from '#actions/rules/maintenance_view.ts';

export const listMaintenance = defineAction({
  name: 'list_maintenance',
  consoleOnly: true,
  summary: 'List the maintenance windows of the organization, newest first; there are at most 200.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object({}, CLOSED),
  result: Type.Object({ windows: Type.Array(MaintenanceView) }),
  example: {},
  async handle(_input, { stores, caller, now }) {
    const rows = await stores.maintenance.list(caller.orgId);
    return { windows: rows.map((row) => toMaintenanceView(row, now)) };
  },
});
