import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { STRICT, IdText, Name } from '#actions/fields.ts';
import { RecurrenceView } from '#modules/maintenance/operations/maintenance_view.ts';
import { MAINTENANCE_DAYS_MAX } from '#modules/maintenance/decide/maintenance.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { parseInstant } from '#modules/schedules/decide/parse_instant.ts';
import { parseTimeZone } from '#modules/schedules/decide/time_zone.ts';
import { invalidInput } from '#kernel/errors.ts';
import type { Temporal } from '#kernel/time.ts';
import type { NewMaintenance } from '#modules/maintenance/store.ts';

const When = Type.String({ maxLength: 40, description: 'RFC 3339, or a local time in the zone' });
const LabelText = Type.String({ minLength: 1, maxLength: 1_000 });

/** Target and times of a maintenance; `startsAt` is now when it is left out. */
export const MAINTENANCE_FIELDS = {
  name: Name,
  target: Type.Object(
    {
      serviceId: Type.Optional(IdText),
      ruleId: Type.Optional(IdText),
      label: Type.Optional(Type.Object({ name: LabelText, value: LabelText }, STRICT)),
    },
    { ...STRICT, description: 'one of the three' },
  ),
  timezone: Type.String({ maxLength: 100 }),
  startsAt: Type.Optional(When),
  endsAt: Type.Optional(When),
  recurrence: Type.Optional(RecurrenceView),
};

const MaintenanceInput = Type.Object(MAINTENANCE_FIELDS, STRICT);

export const MAINTENANCE_EXAMPLE = {
  name: 'Database upgrade',
  timezone: 'Europe/Amsterdam',
  startsAt: '2027-02-06T02:00:00Z',
  endsAt: '2027-05-06T04:00:00Z',
  recurrence: { weekdays: [6, 7], startTime: '02:00', minutes: 120 },
};

/** Reads the input; throws `invalid_input`, or `not_found` for what it names. */
export async function readMaintenance(
  { name, target: { serviceId, ruleId, label }, recurrence, ...times }: Static<typeof MaintenanceInput>,
  { stores, caller: { orgId }, now }: ActionContext,
): Promise<NewMaintenance> {
  if ([serviceId, ruleId, label].filter((target) => target !== undefined).length !== 1) {
    throw invalidInput([{ path: 'target', message: 'must have one of serviceId, ruleId and label' }]);
  }
  const timezone = unwrap(parseTimeZone(times.timezone, 'timezone'));
  const startsAt = times.startsAt === undefined ? now : unwrap(parseInstant(times.startsAt, timezone, 'startsAt'));
  const endsAt = times.endsAt === undefined ? null : unwrap(parseInstant(times.endsAt, timezone, 'endsAt'));
  checkEnd(startsAt, endsAt, recurrence !== undefined, now);
  const service = serviceId === undefined ? null : await stores.services.get(orgId, serviceId, 'target.serviceId');
  const rule = ruleId === undefined ? null : await stores.alertRules.get(orgId, ruleId, 'target.ruleId');
  return {
    orgId,
    name,
    serviceId: service && service.id,
    ruleId: rule && rule.id,
    labelName: label?.name ?? null,
    labelValue: label?.value ?? null,
    startsAt,
    endsAt,
    recurrence: recurrence ?? null,
    timezone,
  };
}

function checkEnd(
  startsAt: Temporal.Instant,
  endsAt: Temporal.Instant | null,
  recurs: boolean,
  now: Temporal.Instant,
): void {
  if (endsAt === null) {
    if (recurs) return;
    throw invalidInput([{ path: 'endsAt', message: 'is required, unless the window recurs' }]);
  }
  if (endsAt.epochMilliseconds <= Math.max(startsAt.epochMilliseconds, now.epochMilliseconds)) {
    throw invalidInput([{ path: 'endsAt', message: 'must be after startsAt and in the future' }]);
  }
  const longest = startsAt.add({ hours: 24 * MAINTENANCE_DAYS_MAX });
  if (!recurs && endsAt.epochMilliseconds > longest.epochMilliseconds) {
    throw invalidInput([{ path: 'endsAt', message: `must be at most ${MAINTENANCE_DAYS_MAX} days after startsAt` }]);
  }
}
