import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { BasedOn, EditedMonitorView, saveEdited } from '#modules/monitors/operations/save_edited.ts';
import { EXPECTATION_FIELDS, SCHEDULE_EXAMPLE, SCHEDULE_FIELDS } from '#modules/monitors/operations/schedule_fields.ts';
import { editMonitor } from '#modules/monitors/decide/monitor.ts';
import { parseEnteredSchedule } from '#modules/monitors/decide/schedule.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';

export const updateMonitor = defineAction({
  name: 'update_monitor',
  consoleOnly: true,
  summary:
    'Set when the runs of a cron monitor begin and how long they may take. This applies from now on, whatever schedule the job sends, until reset_monitor.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: Type.Object(
    {
      monitorId: IdText,
      basedOn: BasedOn,
      ...SCHEDULE_FIELDS,
      ...EXPECTATION_FIELDS,
    },
    STRICT,
  ),
  result: EditedMonitorView,
  conflict: 'somebody has changed the monitor since it was read',
  example: {
    monitorId: EXAMPLE_IDS.monitorId,
    basedOn: '2027-02-01T10:00:00.000Z',
    ...SCHEDULE_EXAMPLE,
    marginMinutes: 5,
    runtimeMinutes: 30,
    failureThreshold: 1,
    recoveryThreshold: 1,
  },
  async handle({ monitorId, basedOn, scheduleType, crontab, every, unit, timezone, ...expected }, context) {
    const schedule = unwrap(parseEnteredSchedule({ scheduleType, crontab, every, unit, timezone }));
    const config = { schedule, ...expected };
    return await saveEdited(monitorId, basedOn, (monitor) => editMonitor(monitor, config, context.now), context);
  },
});
