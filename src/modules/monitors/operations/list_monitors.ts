import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { opensMonitorIncidents } from '#modules/monitors/monitor_incidents.ts';
import { MonitorView, SHOWN_RUNS, toMonitorView } from '#modules/monitors/operations/view.ts';
import { MONITORS_MAX } from '#modules/monitors/decide/check_in.ts';

export const listMonitors = defineAction({
  name: 'list_monitors',
  consoleOnly: true,
  summary: `List the cron monitors of a service with their newest runs, those that fail first; there are at most ${MONITORS_MAX}.`,
  permission: 'exceptions:view',
  effect: 'read',
  input: Type.Object({ serviceId: IdText }, STRICT),
  result: Type.Object({
    monitors: Type.Array(MonitorView),
    monitorsMax: Type.Integer({ description: 'how many a service may have' }),
    opensIncidents: Type.Boolean({
      description: 'whether an active exception rule of the service opens incidents for them',
    }),
  }),
  example: { serviceId: EXAMPLE_IDS.serviceId },
  async handle({ serviceId }, { caller, stores }) {
    const service = await stores.services.get(caller.orgId, serviceId);
    const monitors = await stores.monitors.list(service.id);
    const runs = await stores.monitors.listRuns(
      monitors.map(({ id }) => id),
      SHOWN_RUNS,
    );
    const byMonitor = Map.groupBy(runs, ({ monitorId }) => monitorId);
    const rules = monitors.length === 0 ? [] : await stores.activeRules.list('exception', { serviceIds: [service.id] });
    return {
      monitors: monitors.map((monitor) => toMonitorView(monitor, byMonitor.get(monitor.id) ?? [])),
      monitorsMax: MONITORS_MAX,
      opensIncidents: rules.some(opensMonitorIncidents),
    };
  },
});
