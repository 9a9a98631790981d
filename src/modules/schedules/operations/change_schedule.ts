import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { CLOSED, IdText, Name } from '#actions/fields.ts';
import { planRotation, ROTATION_FIELDS } from '#modules/schedules/operations/rotation_plan.ts';
import { SCHEDULE_EXAMPLE, ScheduleView, toScheduleView } from '#modules/schedules/view.ts';
import { DutyWarnings, readDutyWarnings } from '#modules/teams/cannot_answer.ts';
import { AppError } from '#kernel/errors.ts';
import { toTimestamp } from '#kernel/time.ts';
import { makeReadable } from '#modules/schedules/store/schedule_store.ts';

export const changeSchedule = defineAction({
  name: 'change_schedule',
  consoleOnly: true,
  summary:
    'Replace the name and the rotation of a schedule, unless somebody else has changed it since it was read. With handOver, the turns are counted from that hand-over.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object(
    {
      scheduleId: IdText,
      readAt: Type.String({ format: 'date-time', description: 'the updatedAt of the schedule that was changed' }),
      name: Name,
      ...ROTATION_FIELDS,
    },
    CLOSED,
  ),
  result: Type.Object({ ...ScheduleView.properties, warnings: DutyWarnings }),
  conflict: 'somebody else has changed the schedule since it was read',
  example: {
    scheduleId: EXAMPLE_IDS.scheduleId,
    readAt: SCHEDULE_EXAMPLE.updatedAt,
    name: SCHEDULE_EXAMPLE.name,
    timezone: SCHEDULE_EXAMPLE.timezone,
    rotationType: 'weekly',
    rotationConfig: { userIds: [EXAMPLE_IDS.userId, EXAMPLE_IDS.otherUserId] },
    handOver: { at: '2027-02-08T09:00', position: 1 },
  },
  async handle({ scheduleId, readAt, name, ...rotation }, context) {
    const { stores, caller, now, record } = context;
    const schedule = await stores.schedules.lock(caller.orgId, scheduleId);
    makeReadable(schedule);
    const plan = await planRotation(rotation, schedule, context);
    if (toTimestamp(schedule.updatedAt) !== readAt) {
      throw new AppError('conflict', 'somebody else has changed this schedule; compare, and save again');
    }
    const before = toScheduleView(schedule);
    Object.assign(schedule, { name, ...plan });
    await stores.schedules.save(schedule, now);
    const after = toScheduleView(schedule);
    record({ target: schedule.id, before, after });
    return { ...after, warnings: await readDutyWarnings(schedule.rotationConfig.userIds, context) };
  },
});
