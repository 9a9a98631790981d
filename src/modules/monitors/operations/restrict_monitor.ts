import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { toMonitorFields } from '#modules/monitors/operations/view.ts';

export const restrictMonitor = defineAction({
  name: 'restrict_monitor',
  consoleOnly: true,
  summary:
    'Let only check-ins by the ingestion key of the service count for a cron monitor, or those by its DSN, which is public, as well.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: Type.Object({ monitorId: IdText, keyOnly: Type.Boolean() }, STRICT),
  result: Type.Object({ monitorId: IdText, keyOnly: Type.Boolean() }),
  example: { monitorId: EXAMPLE_IDS.monitorId, keyOnly: true },
  async handle({ monitorId, keyOnly }, { caller, stores, now, record }) {
    const monitor = await stores.monitors.lock(caller.orgId, monitorId);
    await stores.monitors.setKeyOnly(monitor.id, keyOnly, now);
    record({
      target: monitor.id,
      before: toMonitorFields(monitor),
      after: toMonitorFields({ ...monitor, keyOnly }),
    });
    return { monitorId: monitor.id, keyOnly };
  },
});
