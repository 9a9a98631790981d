import { type Static, Type } from 'typebox';

import { EXAMPLE_IDS as IDS, EXAMPLE_STAMPS, IdText, nullable, SafeInteger, Timestamp } from '#actions/fields.ts';
import { ROTATION_TYPES } from '#modules/schedules/decide/rotation.ts';
import { readLayers } from '#modules/schedules/decide/stored_layers.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { readSchedule, type ScheduleRow } from '#modules/schedules/store/schedule_store.ts';
import { type Layer, ROTATION_UNITS } from '#modules/schedules/decide/layer.ts';

export const LayerView = Type.Object({
  layerId: Type.String(),
  name: Type.String(),
  rotation: Type.Object({ every: Type.Integer(), unit: Type.Enum([...ROTATION_UNITS]) }),
  turns: Type.Array(Type.Object({ userIds: Type.Array(IdText) }), {
    description: 'in turn; everybody of one is on call at once, and one without people is nobody’s',
  }),
  startsAt: Timestamp,
  activeFrom: nullable(Timestamp),
  endsAt: nullable(Timestamp),
  hours: nullable(
    Type.Array(
      Type.Object({ fromDay: Type.Integer(), from: Type.String(), toDay: Type.Integer(), to: Type.String() }),
      { description: 'when it speaks, by the wall clock; days count from Monday as 1; null: always' },
    ),
  ),
  holidays: nullable(
    Type.Object({ calendarId: Type.String(), on: Type.Enum(['speaks', 'silent']) }, { description: 'null: ignored' }),
  ),
  keptUntil: nullable(
    Type.String({ format: 'date-time', description: 'until when a turn goes on that a change of the layer kept' }),
  ),
});

export function toLayerView(layer: Layer): Static<typeof LayerView> {
  const { id, name, rotation, turns, startsAt, activeFrom, endsAt, hours, holidays, carried } = layer;
  return {
    layerId: id,
    name,
    rotation: { ...rotation },
    turns: turns.map(({ userIds }) => ({ userIds: [...userIds] })),
    startsAt: toTimestamp(startsAt),
    activeFrom: toTimestampOrNull(activeFrom ?? null),
    endsAt: toTimestampOrNull(endsAt),
    hours: hours && hours.map((window) => ({ ...window })),
    holidays: holidays && { ...holidays },
    keptUntil: carried ? toTimestamp(carried.until) : null,
  };
}

export const RotationTypeName = Type.Enum([...ROTATION_TYPES]);

export const ScheduleView = Type.Object({
  scheduleId: IdText,
  teamId: IdText,
  name: Type.String(),
  timezone: Type.String({ description: 'IANA name' }),
  rotationType: RotationTypeName,
  rotationConfig: Type.Object({ userIds: Type.Array(IdText), shiftHours: Type.Optional(SafeInteger) }),
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
