import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { toMonitorFields } from '#modules/monitors/operations/view.ts';

export const muteMonitor = defineAction({
  name: 'mute_monitor',
  consoleOnly: true,
  summary: 'Stop a cron monitor from opening incidents, or let it open them again. Its runs are still recorded.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: Type.Object({ monitorId: IdText, isMuted: Type.Boolean() }, STRICT),
  result: Type.Object({ monitorId: IdText, isMuted: Type.Boolean() }),
  example: { monitorId: EXAMPLE_IDS.monitorId, isMuted: true },
  async handle({ monitorId, isMuted }, { caller, stores, now, record }) {
    const monitor = await stores.monitors.lock(caller.orgId, monitorId);
    await stores.monitors.setMuted(monitor.id, isMuted, now);
    record({
      target: monitor.id,
      before: toMonitorFields(monitor),
      after: toMonitorFields({ ...monitor, isMuted }),
    });
    return { monitorId: monitor.id, isMuted };
  },
});
