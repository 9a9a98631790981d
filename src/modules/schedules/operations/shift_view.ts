import { type Static, Type } from 'typebox';

import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import type { Shift } from '#modules/schedules/decide/layered_shifts.ts';

export const ShiftView = Type.Object({
  userIds: Type.Array(IdText, { description: 'everybody on call at once' }),
  source: Type.Enum(['rotation', 'override']),
  layerId: nullable(Type.String({ description: 'layer that names them; null: an override of the whole schedule' })),
  since: Timestamp,
  until: nullable(Timestamp),
});

export function toShiftView({ userIds, source, layerId, since, until }: Shift): Static<typeof ShiftView> {
  return { userIds: [...userIds], source, layerId, since: toTimestamp(since), until: toTimestampOrNull(until) };
}
