import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT, Timestamp } from '#actions/fields.ts';
import { SCHEDULE_EXAMPLE, SCHEDULE_FIELDS } from '#modules/monitors/operations/schedule_fields.ts';
import { nextRuns, parseEnteredSchedule } from '#modules/monitors/decide/schedule.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { toTimestamp } from '#kernel/time.ts';

const SHOWN_RUNS = 3;

export const previewMonitor = defineAction({
  name: 'preview_monitor',
  consoleOnly: true,
  summary: `Show when the next ${SHOWN_RUNS} runs of a schedule would begin, if it applied from now on.`,
  permission: 'exceptions:view',
  effect: 'read',
  input: Type.Object(SCHEDULE_FIELDS, STRICT),
  result: Type.Object({ next: Type.Array(Timestamp) }),
  example: SCHEDULE_EXAMPLE,
  async handle(entered, { now }) {
    const schedule = unwrap(parseEnteredSchedule(entered));
    return { next: nextRuns(schedule, now, SHOWN_RUNS).map(toTimestamp) };
  },
});
