import { type Static, Type } from 'typebox';

import {
  Key,
  LAYER_FIELDS,
  Moment,
  Name,
  Phone,
  POLICY_FIELDS,
  ROUTE,
  ShortText,
  StrictObject,
  ZoneName,
} from '#modules/configuration/decide/file_fields.ts';
import { CAPABILITIES, RETENTION_DAYS_MAX } from '#modules/capabilities/decide/capability.ts';
import { RULE_KIND_NAMES } from '#modules/rules/decide/rule_kinds.ts';
import { RECURRENCE_MINUTES } from '#modules/maintenance/decide/maintenance.ts';
import { ROUTES_MAX } from '#modules/alerts/decide/route.ts';
import { ROLES } from '#kernel/permissions.ts';

/** Newest version of the format that this release reads. */
export const FILE_VERSION = 1;

/** Limits on the resources of one file, by kind. */
export const RESOURCES_MAX = 50_000;

const list = <Schema extends Parameters<typeof Type.Array>[0]>(schema: Schema) =>
  Type.Optional(Type.Array(schema, { maxItems: RESOURCES_MAX }));

export const PersonInFile = StrictObject({
  key: Key,
  name: Name,
  email: Type.String({ pattern: String.raw`^[^\s@]+@[^\s@]+$`, maxLength: 320, description: 'a mail address' }),
  role: Type.Optional(Type.Enum([...ROLES], { description: 'role in the organization; responder if left out' })),
  timezone: Type.Optional(ZoneName),
  phones: Type.Optional(
    Type.Array(Phone, { maxItems: 10, description: 'unconfirmed numbers; the first is used in each team' }),
  ),
});

const TeamMemberInFile = StrictObject(
  {
    person: Key,
    phone: Type.Optional(
      Type.Union([Phone, Type.Null()], { description: 'in place of the first phone of the person' }),
    ),
    sms: Type.Optional(Type.Boolean()),
    call: Type.Optional(Type.Boolean()),
    push: Type.Optional(Type.Boolean()),
    email: Type.Optional(Type.Boolean()),
  },
  { description: 'channels that are left out are on' },
);

export const TeamInFile = StrictObject({
  key: Key,
  name: Name,
  members: Type.Optional(Type.Array(TeamMemberInFile, { maxItems: 2_000 })),
});

const OverrideInFile = StrictObject(
  {
    person: Key,
    startsAt: Moment,
    endsAt: Moment,
    layer: Type.Optional(Type.String({ maxLength: 500, description: 'name of the only layer that it replaces' })),
  },
  { description: 'of overlapping ones the last in the file wins' },
);

export const ScheduleInFile = StrictObject({
  key: Key,
  team: Key,
  name: Name,
  timezone: ZoneName,
  layers: Type.Optional(
    Type.Array(LAYER_FIELDS, {
      maxItems: 10,
      description: 'from the lowest to the highest, which wins; left out: they stay as they are',
    }),
  ),
  overrides: Type.Optional(Type.Array(OverrideInFile, { maxItems: 10_000 })),
});

export const CalendarInFile = StrictObject(
  {
    key: Key,
    name: Name,
    url: Type.Optional(Type.String({ maxLength: 2_000, description: 'https address of an iCalendar file' })),
    dates: Type.Optional(
      Type.Array(Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$', description: 'a date such as 2027-12-25' }), {
        maxItems: 2_000,
      }),
    ),
  },
  { description: 'holidays: one of url and dates' },
);

export const PolicyInFile = StrictObject({ key: Key, team: Key, name: Name, ...POLICY_FIELDS });

const RetentionDays = Type.Optional(Type.Integer({ minimum: 1, maximum: RETENTION_DAYS_MAX }));

/** Limit on the DSN keys of a service beside that of its pair. */
export const FURTHER_KEYS_MAX = 100;

const PublicKey = Type.String({
  pattern: '^[0-9a-f]{32}$',
  description: 'the public key of a DSN, 32 characters of 0-9a-f',
});

export const ServiceInFile = StrictObject({
  key: Key,
  name: Name,
  environment: Type.Optional(ShortText),
  repository: Type.Optional(StrictObject({ owner: ShortText, name: ShortText })),
  team: Type.Optional(Key),
  policy: Type.Optional(
    Type.Unsafe<string>({ ...Key, description: 'policy by which its alerts page; in place of an entry in routes' }),
  ),
  capabilities: Type.Optional(Type.Array(Type.Enum([...CAPABILITIES]), { maxItems: CAPABILITIES.length })),
  retentionDays: Type.Optional(
    StrictObject({ metrics: RetentionDays, exceptions: RetentionDays, oncall: RetentionDays }),
  ),
  sentry: Type.Optional(
    StrictObject(
      {
        publicKey: PublicKey,
        projectNumber: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
        furtherKeys: Type.Optional(
          Type.Array(PublicKey, { maxItems: FURTHER_KEYS_MAX, description: 'other keys of DSNs of the project' }),
        ),
      },
      { description: 'DSN that senders keep using, with another host' },
    ),
  ),
});

export const RuleInFile = StrictObject({
  key: Key,
  service: Key,
  name: Name,
  kind: Type.Enum([...RULE_KIND_NAMES]),
  config: Type.Record(Type.String(), Type.Unknown(), { description: 'config of the kind, as in create_alert_rule' }),
  policy: Type.Optional(Type.Union([Key, Type.Null()], { description: 'null: its incidents page nobody' })),
  enabled: Type.Optional(Type.Boolean()),
  settings: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'settings beside the config' })),
});

export const RoutesInFile = StrictObject({
  key: Key,
  service: Key,
  routes: Type.Array(ROUTE, {
    minItems: 1,
    maxItems: ROUTES_MAX,
    description: 'in order; the last one has no conditions and takes the rest',
  }),
});

export const MaintenanceInFile = StrictObject(
  {
    key: Key,
    name: Name,
    service: Type.Optional(Key),
    rule: Type.Optional(Key),
    label: Type.Optional(
      StrictObject({
        name: Type.String({ minLength: 1, maxLength: 1_000 }),
        value: Type.String({ minLength: 1, maxLength: 1_000 }),
      }),
    ),
    timezone: ZoneName,
    startsAt: Moment,
    endsAt: Type.Optional(Moment),
    recurrence: Type.Optional(
      StrictObject({
        weekdays: Type.Array(Type.Integer({ minimum: 1, maximum: 7 }), {
          minItems: 1,
          maxItems: 7,
          description: '1 is Monday, 7 Sunday',
        }),
        startTime: Type.String({
          pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$',
          description: 'a time of day such as 02:30, in the zone',
        }),
        minutes: Type.Integer({ minimum: RECURRENCE_MINUTES.min, maximum: RECURRENCE_MINUTES.max }),
      }),
    ),
  },
  { description: 'one of service, rule and label' },
);

export const DashboardInFile = StrictObject({
  key: Key,
  name: Name,
  service: Type.Optional(Key),
  layout: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
    maxItems: 500,
    description: 'widgets as in create_dashboard; a serviceId or teamId within is a key of this file',
  }),
});

/** The configuration file. Every resource has a key of the file's own, unique within its kind, by which others name it. */
export const ConfigurationFile = StrictObject({
  version: Type.Integer({ minimum: 1, description: 'version of the format: 1' }),
  people: list(PersonInFile),
  teams: list(TeamInFile),
  calendars: list(CalendarInFile),
  schedules: list(ScheduleInFile),
  policies: list(PolicyInFile),
  services: list(ServiceInFile),
  rules: list(RuleInFile),
  routes: list(RoutesInFile),
  maintenance: list(MaintenanceInFile),
  dashboards: list(DashboardInFile),
});

export type ConfigurationFile = Static<typeof ConfigurationFile>;
export type PersonInFile = Static<typeof PersonInFile>;
export type TeamInFile = Static<typeof TeamInFile>;
export type TeamMemberInFile = Static<typeof TeamMemberInFile>;
export type ScheduleInFile = Static<typeof ScheduleInFile>;
export type OverrideInFile = Static<typeof OverrideInFile>;
export type PolicyInFile = Static<typeof PolicyInFile>;
export type ServiceInFile = Static<typeof ServiceInFile>;
export type RuleInFile = Static<typeof RuleInFile>;
export type RoutesInFile = Static<typeof RoutesInFile>;
export type MaintenanceInFile = Static<typeof MaintenanceInFile>;
export type DashboardInFile = Static<typeof DashboardInFile>;

export function configurationSchema(): object {
  const { properties, ...schema } = JSON.parse(JSON.stringify(ConfigurationFile)) as { properties: object };
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Configuration of Tocsin',
    ...schema,
    properties: { ...properties, version: { const: FILE_VERSION, description: 'version of the format' } },
  };
}
