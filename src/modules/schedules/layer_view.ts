import { type Static, Type } from 'typebox';

import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
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
