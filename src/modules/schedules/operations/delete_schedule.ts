import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, StrictObject } from '#actions/fields.ts';
import { requireUnnamed } from '#modules/policies/check_references.ts';
import { toScheduleView } from '#modules/schedules/view.ts';

export const deleteSchedule = defineAction({
  name: 'delete_schedule',
  summary: 'Delete an on-call schedule with its overrides.',
  guidance: 'Ask your user first.',
  permission: 'oncall:edit',
  effect: 'delete',
  stepUp: true,
  input: StrictObject({ scheduleId: IdText }),
  result: Type.Object({ deleted: Type.Literal(true), scheduleId: IdText }),
  conflict: 'a step of an escalation policy names it',
  example: { scheduleId: IDS.scheduleId },
  exampleResult: { deleted: true, scheduleId: IDS.scheduleId },
  async handle({ scheduleId }, context) {
    const { stores, caller, record } = context;
    const schedule = await stores.schedules.lock(caller.orgId, scheduleId);
    await requireUnnamed({ noun: 'schedule', ids: [schedule.id] }, context);
    record({ target: schedule.id, before: toScheduleView(schedule), after: null });
    await stores.schedules.delete(schedule);
    return { deleted: true as const, scheduleId: schedule.id };
  },
});
