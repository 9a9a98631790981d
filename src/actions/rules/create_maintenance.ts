import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { CLOSED, IdText, Name } from '#actions/fields.ts';
import { MaintenanceView, RecurrenceView, toMaintenanceView } from '#actions/rules/maintenance_view.ts';
import { MAINTENANCE_DAYS_MAX } from '#core/incidents/maintenance.ts';
import { orThrow } from '#core/oncall/parsed.ts';
import { parseInstant } from '#core/oncall/parse_instant.ts';
import { parseTimeZone } from '#core/oncall/time_zone.ts';
import { renewQuiet } from '#incidents/paging_start.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import { MAINTENANCE_MAX } from '#storage/postgres/maintenance_store.ts';

const When = Type.String({ maxLength: 40, description: 'RFC 3339, or a local time in the zone' });
const LabelText = Type.String({ minLength: 1, maxLength: 1_000 });
const KEPT_HOURS = 24 * 30;

export const createMaintenance = defineAction({
  name: 'create_maintenance',
  consoleOnly: true,
  summary:
    'Let incidents of a service, of a rule, or of rules that select a label page nobody for a time, once or recurring. They open all the same, and page when it ends if they are still open.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object(
    {
      name: Name,
      target: Type.Object(
        {
          serviceId: Type.Optional(IdText),
          ruleId: Type.Optional(IdText),
          label: Type.Optional(Type.Object({ name: LabelText, value: LabelText }, CLOSED)),
        },
        { ...CLOSED, description: 'one of the three' },
      ),
      timezone: Type.String({ maxLength: 100 }),
      startsAt: Type.Optional(When),
      endsAt: Type.Optional(When),
      recurrence: Type.Optional(RecurrenceView),
    },
    CLOSED,
  ),
  result: MaintenanceView,
  conflict: 'the organization has 200 maintenance windows',
  example: {
    name: 'Database upgrade',
    target: { serviceId: EXAMPLE_IDS.serviceId },
    timezone: 'Europe/Amsterdam',
    startsAt: '2027-02-06T02:00:00Z',
    endsAt: '2027-05-06T04:00:00Z',
    recurrence: { weekdays: [6, 7], startTime: '02:00', minutes: 120 },
  },
  async handle({ name, target: { serviceId, ruleId, label }, recurrence, ...times }, context) {
    const { stores, caller, now, record } = context;
    const { orgId } = caller;
    if ([serviceId, ruleId, label].filter((target) => target !== undefined).length !== 1) {
      throw invalidInput([{ path: 'target', message: 'must have one of serviceId, ruleId and label' }]);
    }
    const timezone = orThrow(parseTimeZone(times.timezone, 'timezone'));
    const startsAt = times.startsAt === undefined ? now : orThrow(parseInstant(times.startsAt, timezone, 'startsAt'));
    const endsAt = times.endsAt === undefined ? null : orThrow(parseInstant(times.endsAt, timezone, 'endsAt'));
    if (recurrence === undefined && endsAt === null) {
      throw invalidInput([{ path: 'endsAt', message: 'is required, unless the window recurs' }]);
    }
    if (endsAt !== null && endsAt.epochMilliseconds <= Math.max(startsAt.epochMilliseconds, now.epochMilliseconds)) {
      throw invalidInput([{ path: 'endsAt', message: 'must be after startsAt and in the future' }]);
    }
    const longest = startsAt.add({ hours: 24 * MAINTENANCE_DAYS_MAX });
    if (recurrence === undefined && endsAt !== null && endsAt.epochMilliseconds > longest.epochMilliseconds) {
      throw invalidInput([{ path: 'endsAt', message: `must be at most ${MAINTENANCE_DAYS_MAX} days after startsAt` }]);
    }
    const service = serviceId === undefined ? null : await stores.services.get(orgId, serviceId, 'target.serviceId');
    const rule = ruleId === undefined ? null : await stores.alertRules.get(orgId, ruleId, 'target.ruleId');
    await stores.maintenance.hold(orgId);
    await stores.maintenance.prune(orgId, now.subtract({ hours: KEPT_HOURS }));
    if ((await stores.maintenance.list(orgId)).length >= MAINTENANCE_MAX) {
      throw new AppError('conflict', `there are ${MAINTENANCE_MAX} maintenance windows; delete one that is over`);
    }
    const target = {
      serviceId: service && service.id,
      ruleId: rule && rule.id,
      labelName: label?.name ?? null,
      labelValue: label?.value ?? null,
    };
    const row = await stores.maintenance.insert(
      { orgId, name, ...target, startsAt, endsAt, recurrence: recurrence ?? null, timezone },
      now,
    );
    await renewQuiet(context, orgId);
    const after = toMaintenanceView(row, now);
    record({ target: row.id, before: null, after });
    return after;
  },
});
