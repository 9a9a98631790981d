import { type Static, Type } from 'typebox';

import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import type { Shift } from '#modules/schedules/decide/shift.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';

export const ShiftView = Type.Object({
  userId: IdText,
  source: Type.Enum(['rotation', 'override']),
  since: Timestamp,
  until: nullable(Timestamp),
});

export function toShiftView({ userId, source, since, until }: Shift): Static<typeof ShiftView> {
  return { userId, source, since: toTimestamp(since), until: toTimestampOrNull(until) };
}
