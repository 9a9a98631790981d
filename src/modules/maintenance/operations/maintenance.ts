import { type Static, Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS, IdText, Name, nullable, Timestamp } from '#actions/fields.ts';
import { StrictObject } from '#kernel/action.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import { isAtOrBefore, type Temporal, toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { ZoneClocks } from '#kernel/zone_clock.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { renewSuppression } from '#modules/incidents/paging/suppression.ts';
import {
  haveCommonSubject,
  MAINTENANCE_DAYS_MAX,
  nextMaintenance,
  nextOverlap,
  RECURRENCE_MINUTES,
  rulesOf,
} from '#modules/maintenance/decide/maintenance.ts';
import { MAINTENANCE_MAX, type MaintenanceRow, type NewMaintenance } from '#modules/maintenance/store.ts';
import { parseInstant } from '#modules/schedules/decide/parse_instant.ts';
import { parseTimeZone } from '#modules/schedules/decide/schedule_times.ts';

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

const MaintenanceView = Type.Object({
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

const NamedMaintenanceView = Type.Object({
  ...MaintenanceView.properties,
  targetName: nullable(Type.String({ description: 'of the service or the rule; null for a label' })),
});

function toMaintenanceView(
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

const When = Type.String({ maxLength: 40, description: 'RFC 3339, or a local time in the zone' });
const LabelText = Type.String({ minLength: 1, maxLength: 1_000 });

/** Target and times of a maintenance; `startsAt` is now when it is left out. */
const MAINTENANCE_FIELDS = {
  name: Name,
  target: StrictObject(
    {
      serviceId: Type.Optional(IdText),
      ruleId: Type.Optional(IdText),
      label: Type.Optional(StrictObject({ name: LabelText, value: LabelText })),
    },
    { description: 'one of the three' },
  ),
  timezone: Type.String({ maxLength: 100 }),
  startsAt: Type.Optional(When),
  endsAt: Type.Optional(When),
  recurrence: Type.Optional(RecurrenceView),
};

const MaintenanceInput = StrictObject(MAINTENANCE_FIELDS);

const MAINTENANCE_EXAMPLE = {
  name: 'Database upgrade',
  timezone: 'Europe/Amsterdam',
  startsAt: '2027-02-06T02:00:00Z',
  endsAt: '2027-05-06T04:00:00Z',
  recurrence: { weekdays: [6, 7], startTime: '02:00', minutes: 120 },
};

/** Reads the input; throws `invalid_input`, or `not_found` for what it names. */
async function readMaintenance(
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

const KEPT_HOURS = 24 * 30;

export const createMaintenance = defineOperation({
  name: 'create_maintenance',
  summary:
    'Let incidents of a service, of a rule, or of rules that select a label page nobody for a time, once or recurring. They open all the same, and page when it ends if they are still open.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject(MAINTENANCE_FIELDS),
  result: MaintenanceView,
  conflict: 'the organization has 200 maintenance windows',
  example: { ...MAINTENANCE_EXAMPLE, target: { serviceId: EXAMPLE_IDS.serviceId } },
  async handle(input, context) {
    const { stores, caller, now, record } = context;
    const { orgId } = caller;
    const wanted = await readMaintenance(input, context);
    await stores.maintenance.hold(orgId);
    await stores.maintenance.prune(orgId, now.subtract({ hours: KEPT_HOURS }));
    if ((await stores.maintenance.list(orgId)).length >= MAINTENANCE_MAX) {
      throw new AppError('conflict', `there are ${MAINTENANCE_MAX} maintenance windows; delete one that is over`);
    }
    const row = await stores.maintenance.insert(wanted, now);
    await renewSuppression(context, orgId);
    const after = toMaintenanceView(row, now);
    record({ target: row.id, before: null, after });
    return after;
  },
});

export const updateMaintenance = defineOperation({
  name: 'update_maintenance',
  summary:
    'Change what a maintenance window is for and when it is in effect, unless somebody has changed it since it was read. Incidents that waited for it follow its new times, or page now.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({
    maintenanceId: IdText,
    basedOn: Type.String({ maxLength: 40, description: 'the updatedAt of what was read' }),
    ...MAINTENANCE_FIELDS,
  }),
  result: MaintenanceView,
  conflict: 'somebody has changed the window since it was read',
  example: { basedOn: '2027-02-01T10:00:00.000Z', ...MAINTENANCE_EXAMPLE, target: { ruleId: EXAMPLE_IDS.ruleId } },
  async handle({ maintenanceId, basedOn, ...input }, context) {
    const { stores, caller, now, record } = context;
    await stores.maintenance.hold(caller.orgId);
    const row = await stores.maintenance.get(caller.orgId, maintenanceId);
    const before = toMaintenanceView(row, now);
    if (before.updatedAt !== basedOn) {
      throw new AppError('conflict', 'somebody has changed this window since you opened it');
    }
    const changed = { ...row, ...(await readMaintenance(input, context)), updatedAt: now };
    await stores.maintenance.save(changed);
    await renewSuppression(context, caller.orgId);
    const after = toMaintenanceView(changed, now);
    record({ target: row.id, before, after });
    return after;
  },
});

export const deleteMaintenance = defineOperation({
  name: 'delete_maintenance',
  summary:
    'End or cancel a maintenance window. Incidents that waited for its end page now. One that has begun stays in the list as over, for 30 days; one that is over, or has not begun, is removed.',
  permission: 'oncall:edit',
  effect: 'delete',
  input: StrictObject({ maintenanceId: IdText }),
  result: Type.Object({ deleted: Type.Literal(true), maintenanceId: IdText }),
  async handle({ maintenanceId }, context) {
    const { stores, caller, now, record } = context;
    await stores.maintenance.hold(caller.orgId);
    const row = await stores.maintenance.get(caller.orgId, maintenanceId);
    const before = toMaintenanceView(row, now);
    const hasBegun = isAtOrBefore(row.startsAt, now) && nextMaintenance(row, now) !== null;
    const ended = hasBegun ? { ...row, endsAt: now, updatedAt: now } : null;
    if (ended === null) await stores.maintenance.delete(row.id);
    else await stores.maintenance.save(ended);
    await renewSuppression(context, caller.orgId);
    record({ target: row.id, before, after: ended && toMaintenanceView(ended, now) });
    return { deleted: true as const, maintenanceId: row.id };
  },
});

export const listMaintenance = defineOperation({
  name: 'list_maintenance',
  summary:
    'List the maintenance windows of the organization, newest first; there are at most 200. Or only those that keep a rule, or something of a service, quiet.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({ serviceId: Type.Optional(IdText), ruleId: Type.Optional(IdText) }),
  result: Type.Object({ windows: Type.Array(NamedMaintenanceView) }),
  example: { serviceId: EXAMPLE_IDS.serviceId, ruleId: EXAMPLE_IDS.ruleId },
  async handle({ serviceId, ruleId }, { stores, caller: { orgId }, now }) {
    const service = serviceId === undefined ? null : await stores.services.get(orgId, serviceId);
    const rule = ruleId === undefined ? null : await stores.alertRules.get(orgId, ruleId);
    const all = await stores.maintenance.list(orgId);
    const isWanted = service !== null || rule !== null;
    const rules = isWanted && all.length > 0 ? await stores.maintenance.listRules(orgId) : [];
    const subjects = rules.filter((candidate) => candidate.serviceId === service?.id || candidate.ruleId === rule?.id);
    const rows = isWanted
      ? all.filter((row) => (service !== null && row.serviceId === service.id) || rulesOf(row, subjects).length > 0)
      : all;
    const serviceIds = rows.flatMap((row) => row.serviceId ?? []);
    const services = await stores.services.findNames(orgId, serviceIds);
    const ruleNames = await stores.alertRules.findNames(
      orgId,
      rows.flatMap((row) => row.ruleId ?? []),
    );
    const clocks = new ZoneClocks();
    return {
      windows: rows.map((row) => ({
        ...toMaintenanceView(row, now, clocks),
        targetName:
          (row.serviceId !== null && services.get(row.serviceId)) ||
          (row.ruleId !== null && ruleNames.get(row.ruleId)) ||
          null,
      })),
    };
  },
});

const Span = { startsAt: Timestamp, endsAt: Timestamp };
const NEXT_SHOWN = 3;
const CONFLICTS_SHOWN = 10;
/** Limit on the windows for the same thing that are compared; each comparison looks at some weeks. */
const COMPARED_MAX = 40;

/** Shows the effect of a window before it is created. */
export const previewMaintenance = defineOperation({
  name: 'preview_maintenance',
  summary:
    'Say when a maintenance window would be in effect next, how many rules it would keep quiet, and which windows for the same thing overlap with it.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({ maintenanceId: Type.Optional(IdText), ...MAINTENANCE_FIELDS }),
  result: Type.Object({
    next: Type.Array(Type.Object(Span), { description: `at most ${NEXT_SHOWN}` }),
    ruleCount: Type.Integer({ description: 'rules that it keeps quiet' }),
    conflicts: Type.Array(Type.Object({ maintenanceId: IdText, name: Type.String(), ...Span }), {
      description: `other windows for the same thing, with the next time in which both are in effect; at most ${CONFLICTS_SHOWN}`,
    }),
    conflictCount: Type.Integer({ description: `of the newest ${COMPARED_MAX} windows for the same thing` }),
  }),
  example: {
    maintenanceId: EXAMPLE_IDS.maintenanceId,
    ...MAINTENANCE_EXAMPLE,
    target: { serviceId: EXAMPLE_IDS.serviceId },
  },
  async handle({ maintenanceId, ...input }, context) {
    const { stores, caller, now } = context;
    const wanted = await readMaintenance(input, context);
    const rules = await stores.maintenance.listRules(caller.orgId);
    const windows = await stores.maintenance.list(caller.orgId);
    const clocks = new ZoneClocks();
    const conflicts = windows
      .filter((window) => window.id !== maintenanceId && haveCommonSubject(window, wanted, rules))
      .slice(0, COMPARED_MAX)
      .flatMap((window) => {
        const overlap = nextOverlap(window, wanted, now, clocks);
        return overlap === null ? [] : { maintenanceId: window.id, name: window.name, ...toSpan(overlap) };
      });
    const next: { startsAt: string; endsAt: string }[] = [];
    for (let from = now; next.length < NEXT_SHOWN;) {
      const upcoming = nextMaintenance(wanted, from, clocks);
      if (upcoming === null) break;
      next.push(toSpan(upcoming));
      from = upcoming.endsAt;
    }
    return {
      next,
      ruleCount: rulesOf(wanted, rules).length,
      conflicts: conflicts.slice(0, CONFLICTS_SHOWN),
      conflictCount: conflicts.length,
    };
  },
});

function toSpan(span: { readonly startsAt: Temporal.Instant; readonly endsAt: Temporal.Instant }) {
  return { startsAt: toTimestamp(span.startsAt), endsAt: toTimestamp(span.endsAt) };
}
