import { type Static, Type } from 'typebox';

import { IdText, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { nextMaintenance, RECURRENCE_MINUTES } from '#modules/maintenance/decide/maintenance.ts';
import { type Temporal, toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import type { ZoneClocks } from '#kernel/zone_clock.ts';
import type { MaintenanceRow } from '#modules/maintenance/store.ts';

export const RecurrenceView = StrictObject({
  weekdays: Type.Array(Type.Integer({ minimum: 1, maximum: 7 }), {
    minItems: 1,
    maxItems: 7,
    description: '1 is Monday, 7 Sunday',
  }),
  startTime: Type.String({
    pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$',
    maxLength: 5,
    description: 'a time of day such as 02:30, in the zone',
  }),
  minutes: Type.Integer({ minimum: RECURRENCE_MINUTES.min, maximum: RECURRENCE_MINUTES.max }),
});

export const MaintenanceView = Type.Object({
  maintenanceId: IdText,
  name: Type.String(),
  serviceId: nullable(IdText),
  ruleId: nullable(IdText),
  label: nullable(Type.Object({ name: Type.String(), value: Type.String() })),
  startsAt: Timestamp,
  endsAt: nullable(Timestamp),
  recurrence: nullable(RecurrenceView),
  timezone: Type.String(),
  updatedAt: Timestamp,
  isActive: Type.Boolean(),
  next: nullable(
    Type.Object(
      { startsAt: Timestamp, endsAt: Timestamp },
      { description: 'when it is in effect now or next; null when it is over' },
    ),
  ),
});

export const NamedMaintenanceView = Type.Object({
  ...MaintenanceView.properties,
  targetName: nullable(Type.String({ description: 'of the service or the rule; null for a label' })),
});

export function toMaintenanceView(
  row: MaintenanceRow,
  now: Temporal.Instant,
  clocks?: ZoneClocks,
): Static<typeof MaintenanceView> {
  const next = nextMaintenance(row, now, clocks);
  const { labelName, labelValue, recurrence } = row;
  return {
    maintenanceId: row.id,
    name: row.name,
    serviceId: row.serviceId,
    ruleId: row.ruleId,
    label: labelName === null ? null : { name: labelName, value: labelValue ?? '' },
    startsAt: toTimestamp(row.startsAt),
    endsAt: toTimestampOrNull(row.endsAt),
    recurrence: recurrence && { ...recurrence, weekdays: [...recurrence.weekdays] },
    timezone: row.timezone,
    updatedAt: toTimestamp(row.updatedAt ?? row.createdAt),
    isActive: next !== null && next.startsAt.epochMilliseconds <= now.epochMilliseconds,
    next: next && { startsAt: toTimestamp(next.startsAt), endsAt: toTimestamp(next.endsAt) },
  };
}
