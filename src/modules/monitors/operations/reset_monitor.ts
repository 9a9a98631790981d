import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { BasedOn, EditedMonitorView, saveEdited } from '#modules/monitors/operations/save_edited.ts';
import { useJobSchedule } from '#modules/monitors/decide/monitor.ts';

export const resetMonitor = defineAction({
  name: 'reset_monitor',
  consoleOnly: true,
  summary:
    'Go back to the schedule that the job of a cron monitor sends. The schedule that it sent last applies from now on.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: Type.Object({ monitorId: IdText, basedOn: BasedOn }, STRICT),
  result: EditedMonitorView,
  conflict: 'somebody has changed the monitor since it was read',
  example: { monitorId: EXAMPLE_IDS.monitorId, basedOn: '2027-02-01T10:00:00.000Z' },
  handle: ({ monitorId, basedOn }, context) =>
    saveEdited(monitorId, basedOn, (monitor) => useJobSchedule(monitor, context.now), context),
});
