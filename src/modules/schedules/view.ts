import { type Static, Type } from 'typebox';

import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { EXAMPLE_STAMPS } from '#actions/example_stamps.ts';
import { IdText, SafeInteger, Timestamp } from '#actions/fields.ts';
import { ROTATION_TYPES } from '#modules/schedules/decide/rotation.ts';
import { readLayers } from '#modules/schedules/decide/stored_layers.ts';
import { LayerView, toLayerView } from '#modules/schedules/layer_view.ts';
import { toTimestamp } from '#kernel/time.ts';
import { readSchedule, type ScheduleRow } from '#modules/schedules/store/schedule_store.ts';

export const RotationTypeName = Type.Enum([...ROTATION_TYPES]);

export const ScheduleView = Type.Object({
  scheduleId: IdText,
  teamId: IdText,
  name: Type.String(),
  timezone: Type.String({ description: 'IANA name' }),
  rotationType: RotationTypeName,
  rotationConfig: Type.Object({
    userIds: Type.Array(IdText),
    shiftHours: Type.Optional(SafeInteger),
  }),
  startAt: Timestamp,
  layers: Type.Optional(
    Type.Array(LayerView, {
      description:
        'lowest first, the rotation among them; absent when the rotation is all there is. The highest that names somebody decides',
    }),
  ),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});

export const SCHEDULE_EXAMPLE: Static<typeof ScheduleView> = {
  scheduleId: IDS.scheduleId,
  teamId: IDS.teamId,
  name: 'Primary',
  timezone: 'Europe/Amsterdam',
  rotationType: 'weekly',
  rotationConfig: { userIds: [IDS.userId, IDS.otherUserId] },
  startAt: '2027-01-04T08:00:00.000Z',
  ...EXAMPLE_STAMPS,
};

export function toScheduleView(stored: ScheduleRow): Static<typeof ScheduleView> {
  const schedule = readSchedule(stored);
  const { userIds, ...shiftHours } = schedule.rotationConfig;
  return {
    scheduleId: schedule.id,
    teamId: schedule.teamId,
    name: schedule.name,
    timezone: schedule.timezone,
    rotationType: schedule.rotationType,
    rotationConfig: { userIds: [...userIds], ...shiftHours },
    startAt: toTimestamp(schedule.startAt),
    ...(schedule.layers !== null && { layers: readLayers(schedule).map(toLayerView) }),
    createdAt: toTimestamp(schedule.createdAt),
    updatedAt: toTimestamp(schedule.updatedAt),
  };
}
