import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { CLOSED, FreeText, IdText, Name } from '#actions/fields.ts';
import { RotationConfigInput, toRotationConfig } from '#actions/schedules/rotation_config.ts';
import { RotationTypeName, ScheduleView, toScheduleView } from '#actions/schedules/view.ts';
import { orThrow } from '#core/oncall/parsed.ts';
import { timeFaults } from '#core/oncall/schedule_times.ts';
import { parseTimeZone } from '#core/oncall/time_zone.ts';

export const updateSchedule = defineAction({
  name: 'update_schedule',
  summary:
    'Update the name, timezone or rotation of a schedule. rotationConfig is replaced as a whole. The rotation keeps the instant at which it started; a new timezone moves the local time of the hand-overs with it.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object(
    {
      scheduleId: IdText,
      name: Type.Optional(Name),
      timezone: Type.Optional(FreeText),
      rotationType: Type.Optional(RotationTypeName),
      rotationConfig: Type.Optional(RotationConfigInput),
    },
    CLOSED,
  ),
  result: ScheduleView,
  meaning: ({ timezone }) => timeFaults({ timezone }),
  async handle({ scheduleId, name, timezone, rotationType, rotationConfig }, context) {
    const { stores, caller, now, record } = context;
    const zone = timezone === undefined ? undefined : orThrow(parseTimeZone(timezone, 'timezone'));
    const schedule = await stores.schedules.lock(caller.orgId, scheduleId);
    const before = toScheduleView(schedule);
    if (name !== undefined) schedule.name = name;
    if (zone !== undefined) schedule.timezone = zone;
    if (rotationType !== undefined) schedule.rotationType = rotationType;
    if (rotationConfig !== undefined) schedule.rotationConfig = await toRotationConfig(rotationConfig, context);
    await stores.schedules.save(schedule, now);
    const after = toScheduleView(schedule);
    record({ target: schedule.id, before, after });
    return after;
  },
});
