import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { NamedMaintenanceView, toMaintenanceView } from '#modules/maintenance/operations/maintenance_view.ts';
import { rulesOf } from '#modules/maintenance/decide/maintenance.ts';
import { ZoneClocks } from '#kernel/zone_clock.ts';

export const listMaintenance = defineAction({
  name: 'list_maintenance',
  consoleOnly: true,
  summary:
    'List the maintenance windows of the organization, newest first; there are at most 200. Or only those that keep a rule, or something of a service, quiet.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object({ serviceId: Type.Optional(IdText), ruleId: Type.Optional(IdText) }, STRICT),
  result: Type.Object({ windows: Type.Array(NamedMaintenanceView) }),
  example: { serviceId: EXAMPLE_IDS.serviceId, ruleId: EXAMPLE_IDS.ruleId },
  async handle({ serviceId, ruleId }, { stores, caller: { orgId }, now }) {
    const service = serviceId === undefined ? null : await stores.services.get(orgId, serviceId);
    const rule = ruleId === undefined ? null : await stores.alertRules.get(orgId, ruleId);
    const all = await stores.maintenance.list(orgId);
    const isWanted = service !== null || rule !== null;
    const rules = isWanted && all.length > 0 ? await stores.maintenance.listRules(orgId) : [];
    const subjects = rules.filter((candidate) => candidate.serviceId === service?.id || candidate.ruleId === rule?.id);
    const rows = isWanted
      ? all.filter((row) => (service !== null && row.serviceId === service.id) || rulesOf(row, subjects).length > 0)
      : all;
    const serviceIds = rows.flatMap((row) => row.serviceId ?? []);
    const services = await stores.services.findNames(orgId, serviceIds);
    const ruleNames = await stores.alertRules.findNames(
      orgId,
      rows.flatMap((row) => row.ruleId ?? []),
    );
    const clocks = new ZoneClocks();
    return {
      windows: rows.map((row) => ({
        ...toMaintenanceView(row, now, clocks),
        targetName:
          (row.serviceId !== null && services.get(row.serviceId)) ||
          (row.ruleId !== null && ruleNames.get(row.ruleId)) ||
          null,
      })),
    };
  },
});
