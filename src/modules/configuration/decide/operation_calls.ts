import { dailyWindowsOfSpans, layersInput, rotationInput } from './layers.ts';
import { FIRST_LAYER } from '#modules/schedules/decide/layer.ts';
import type { PlannedChange } from '#modules/configuration/decide/plan.ts';
import type { FieldsOf, ResourceKind } from '#modules/configuration/decide/resource.ts';
import type { Ref } from '#modules/configuration/decide/ref.ts';
import { mapIdsOfLayout } from '#modules/configuration/decide/widget_ids.ts';
import { hasSetting, type RuleSettings, type StoredSettings } from '#modules/rules/decide/rule_settings.ts';
import type { RuleKind } from '#modules/rules/decide/rule_kinds.ts';

export interface OperationCall {
  readonly operation: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Returns the id of a resource by its key. Throws for one that is not there. */
export type IdOf = (kind: ResourceKind, ref: Ref) => string;

/** Returns the updatedAt of a resource that was made or changed by this call; null where none was. */
export type BasisOf = (change: Pick<PlannedChange, 'kind' | 'key'>) => string | null;

/** Name of the operation by which a change is made. */
export function operationOf({
  action,
  kind,
  part,
  wanted,
}: Pick<PlannedChange, 'action' | 'kind' | 'part' | 'wanted'>): string {
  if (part !== null) {
    switch (part.part) {
      case 'capability':
        return part.isEnabled ? 'enable_capability' : 'disable_capability';
      case 'retention':
        return 'set_retention';
      case 'dsn':
        return 'keep_sentry_dsn';
      case 'team':
        return 'set_service_team';
      case 'layers':
        return 'set_schedule_layers';
    }
  }
  if (action === 'create' && wanted?.kind === 'override' && wanted.fields.layer !== null)
    return 'create_layer_override';
  return OPERATIONS[kind][action];
}

const OPERATIONS: Record<ResourceKind, Record<PlannedChange['action'], string>> = {
  person: { create: 'add_person', update: 'change_role', delete: '' },
  team: { create: 'create_team', update: 'update_team', delete: 'delete_team' },
  member: { create: 'add_team_member', update: 'update_team_member', delete: 'remove_team_member' },
  schedule: { create: 'create_schedule', update: 'set_schedule_layers', delete: 'delete_schedule' },
  calendar: { create: 'create_holiday_calendar', update: 'update_holiday_calendar', delete: 'delete_holiday_calendar' },
  override: { create: 'create_schedule_override', update: '', delete: 'delete_schedule_override' },
  policy: { create: 'add_escalation_policy', update: 'replace_escalation_policy', delete: 'delete_escalation_policy' },
  service: { create: 'create_service', update: 'update_service', delete: 'delete_service' },
  rule: { create: 'add_alert_rule', update: 'replace_alert_rule', delete: 'delete_alert_rule' },
  routes: { create: 'set_alert_routes', update: 'set_alert_routes', delete: '' },
  maintenance: { create: 'create_maintenance', update: 'update_maintenance', delete: 'delete_maintenance' },
  dashboard: { create: 'create_dashboard', update: 'update_dashboard', delete: 'delete_dashboard' },
};

/** Properties by which operations name what they change, by kind. */
const ID_NAMES: Record<ResourceKind, string> = {
  person: 'userId',
  team: 'teamId',
  member: 'memberId',
  schedule: 'scheduleId',
  calendar: 'calendarId',
  override: 'overrideId',
  policy: 'policyId',
  service: 'serviceId',
  rule: 'ruleId',
  routes: 'serviceId',
  maintenance: 'maintenanceId',
  dashboard: 'dashboardId',
};

export function callOf(change: PlannedChange, idOf: IdOf, basisOf: BasisOf): OperationCall {
  const operation = operationOf(change);
  const { action, kind, key, part } = change;
  const self = () => ({ [ID_NAMES[kind]]: change.id ?? idOf(kind, key) });
  if (action === 'delete') return { operation, input: self() };
  if (part !== null) return { operation, input: { ...self(), ...partInput(change, idOf, basisOf) } };
  return {
    operation,
    input: {
      ...(action === 'update' && kind !== 'routes' ? self() : {}),
      ...inputOf({ ...change, basis: change.basis ?? basisOf(change) }, idOf),
    },
  };
}

function partInput(change: PlannedChange, idOf: IdOf, basisOf: BasisOf): object {
  const { part, wanted } = change;
  switch (part?.part) {
    case 'capability':
      return { capability: part.capability };
    case 'retention':
      return { capability: part.capability, retentionDays: part.days };
    case 'dsn':
      return wanted?.kind === 'service' ? (wanted.fields.sentry ?? {}) : {};
    case 'team': {
      const team = wanted?.kind === 'service' ? (wanted.fields.team ?? null) : null;
      return { teamId: team === null ? null : idOf('team', team) };
    }
    case 'layers':
      return wanted?.kind === 'schedule' ? scheduleInput(wanted.fields, null, basisOf(change), idOf) : {};
    case undefined:
      return {};
  }
}

function inputOf({ action, wanted, present, basis }: PlannedChange, idOf: IdOf): object {
  if (wanted === null) throw new Error('only a deletion wants nothing');
  const isNew = action === 'create';
  switch (wanted.kind) {
    case 'person': {
      const { email, name, role = 'responder' } = wanted.fields;
      if (isNew) return { email, name, role };
      return { role, ...(present?.kind === 'person' && { basedOn: present.fields.role }) };
    }
    case 'team':
      return { name: wanted.fields.name };
    case 'member':
      return memberInput(wanted.fields, isNew, idOf);
    case 'schedule': {
      const { team, name, timezone, layers = [] } = wanted.fields;
      if (!isNew)
        return scheduleInput(wanted.fields, present?.kind === 'schedule' ? present.fields : null, basis, idOf);
      return { teamId: idOf('team', team), name, timezone, ...rotationInput(layers, (ref) => idOf('person', ref)) };
    }
    case 'calendar': {
      const { name, url, dates } = wanted.fields;
      return { name, url, ...(dates !== undefined && { dates: [...dates] }) };
    }
    case 'override': {
      const { schedule, person, startsAt, endsAt, layer } = wanted.fields;
      const of = { scheduleId: idOf('schedule', schedule), userId: idOf('person', person) };
      return {
        ...of,
        startAt: startsAt,
        endAt: endsAt,
        ...(layer !== null && { layerId: layer === '' ? FIRST_LAYER : { name: layer } }),
      };
    }
    case 'policy': {
      return {
        ...(isNew ? { teamId: idOf('team', wanted.fields.team) } : { basedOn: basis }),
        ...policyInput(wanted.fields, idOf),
      };
    }
    case 'service': {
      const { name, environment, repository } = wanted.fields;
      const scm = repository && { scmOwner: repository.owner, scmRepo: repository.name };
      return { name, ...(typeof environment === 'string' && { environment }), ...scm };
    }
    case 'rule':
      return ruleInput(wanted.fields, present?.kind === 'rule' ? present.fields : null, basis, idOf);
    case 'routes': {
      const { service, routes } = wanted.fields;
      const input = routes.map(({ policy, ...route }) => {
        return { ...route, policyId: policy === null ? null : idOf('policy', policy) };
      });
      return { serviceId: idOf('service', service), routes: input };
    }
    case 'maintenance':
      return { ...(!isNew && { basedOn: basis }), ...maintenanceInput(wanted.fields, idOf) };
    case 'dashboard': {
      const { name, service, layout } = wanted.fields;
      const of = isNew && service !== null ? { serviceId: idOf('service', service) } : {};
      return { ...of, name, layout: mapIdsOfLayout(layout, (kind, ref) => idOf(kind, ref)) };
    }
  }
}

function scheduleInput(
  { name, timezone, layers }: FieldsOf['schedule'],
  present: FieldsOf['schedule'] | null,
  readAt: string | null,
  idOf: IdOf,
): object {
  const layerIds = present?.layerIds ?? {};
  const idOfLayer = (layer: string) => (Object.hasOwn(layerIds, layer) ? (layerIds[layer] ?? null) : null);
  const ids = { person: (ref: Ref) => idOf('person', ref), calendar: (ref: Ref) => idOf('calendar', ref) };
  // A file says where turns begin: applying it moves nothing that stands in it.
  return {
    readAt,
    name,
    timezone,
    layers: layersInput(layers ?? present?.layers ?? [], idOfLayer, ids),
    keepTurns: false,
  };
}

function policyInput({ name, steps, repeat, hours }: FieldsOf['policy'], idOf: IdOf): object {
  return {
    name,
    steps: steps.map(({ afterMinutes, channels, people, onCall, schedules, isNext, members, policy, everybody }) => ({
      afterMinutes,
      channels: [...channels],
      targetUserIds: people.map((person) => idOf('person', person)),
      useSchedule: onCall,
      ...(schedules !== null && { scheduleIds: schedules.map((schedule) => idOf('schedule', schedule)) }),
      ...(isNext && { turn: 'next' }),
      ...(members !== null && {
        members: { teamId: idOf('team', members.team), ...(members.inTurn && { inTurn: true }) },
      }),
      ...(policy !== null && { policyId: idOf('policy', policy) }),
      ...(everybody && { needsEverybody: true }),
    })),
    ...(repeat !== null && { repeat: { ...repeat } }),
    ...(hours !== null && {
      hours: {
        timezone: hours.timezone,
        windows: dailyWindowsOfSpans(hours.spans),
        outside: hours.otherwise === null ? 'hold' : { policyId: idOf('policy', hours.otherwise) },
        exemptFrom: hours.exemptFrom,
      },
    }),
  };
}

function memberInput({ team, person, phone, ...fields }: FieldsOf['member'], isNew: boolean, idOf: IdOf): object {
  const { sms, call, push, email } = fields;
  const switches = { smsEnabled: sms, callEnabled: call, pushEnabled: push, emailEnabled: email };
  if (!isNew) return { ...(phone !== undefined && { phone }), ...switches };
  const of = { teamId: idOf('team', team), userId: idOf('person', person) };
  return { ...of, ...(typeof phone === 'string' && { phone }), ...switches };
}

function ruleInput(
  { service, name, kind, config, policy, enabled, settings }: FieldsOf['rule'],
  present: Required<FieldsOf['rule']> | null,
  basis: string | null,
  idOf: IdOf,
): object {
  const chosen = settings === undefined ? undefined : ofKind(kind, settings);
  if (present === null) {
    return {
      serviceId: idOf('service', service),
      name,
      kind,
      config,
      ...(typeof policy === 'string' && { escalationPolicyId: idOf('policy', policy) }),
      enabled: enabled ?? true,
      settings: chosen ?? {},
    };
  }
  const next = policy === undefined ? present.policy : policy;
  return {
    basedOn: basis,
    name,
    config,
    escalationPolicyId: next === null ? null : idOf('policy', next),
    enabled: enabled ?? present.enabled,
    ...(chosen !== undefined && { settings: chosen }),
  };
}

function ofKind(kind: RuleKind, settings: StoredSettings): StoredSettings {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => hasSetting(kind, name as keyof RuleSettings)));
}

function maintenanceInput(fields: FieldsOf['maintenance'], idOf: IdOf): object {
  const { name, service, rule, label, timezone, startsAt, endsAt, recurrence } = fields;
  return {
    name,
    target: {
      ...(service !== null && { serviceId: idOf('service', service) }),
      ...(rule !== null && { ruleId: idOf('rule', rule) }),
      ...(label !== null && { label }),
    },
    timezone,
    startsAt,
    ...(endsAt !== null && { endsAt }),
    ...(recurrence !== null && { recurrence }),
  };
}
