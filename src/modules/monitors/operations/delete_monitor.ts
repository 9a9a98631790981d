import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { toMonitorFields } from '#modules/monitors/operations/view.ts';
import { toIncidentActor } from '#modules/incidents/decide/incident.ts';
import { resolveMonitorIncidents } from '#modules/monitors/monitor_incidents.ts';

export const deleteMonitor = defineAction({
  name: 'delete_monitor',
  consoleOnly: true,
  summary:
    'Delete a cron monitor with its runs, and resolve its incidents. The next check-in of its job makes it again.',
  permission: 'exceptions:edit',
  effect: 'delete',
  stepUp: true,
  input: Type.Object({ monitorId: IdText }, STRICT),
  result: Type.Object({ deleted: Type.Literal(true), monitorId: IdText, resolvedIncidentIds: Type.Array(IdText) }),
  example: { monitorId: EXAMPLE_IDS.monitorId },
  async handle({ monitorId }, context) {
    const { caller, stores, record } = context;
    const monitor = await stores.monitors.lock(caller.orgId, monitorId);
    const by = toIncidentActor(caller.actor, caller.via);
    const resolved = await resolveMonitorIncidents(context, monitor, by);
    await stores.monitors.delete(monitor.id);
    record({ target: monitor.id, before: toMonitorFields(monitor), after: null });
    for (const { id, status } of resolved) record({ target: id, before: { status }, after: { status: 'resolved' } });
    return { deleted: true as const, monitorId: monitor.id, resolvedIncidentIds: resolved.map(({ id }) => id) };
  },
});
