import { type Static, Type } from 'typebox';

import { changesSince, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { ALERTS_PATH } from '#kernel/api_paths.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import {
  MAPPED_PATH_LENGTH_MAX,
  MAPPED_PATHS_MAX,
  STATUS_VALUE_LENGTH_MAX,
  STATUS_VALUES_MAX,
  type WebhookMapping,
} from '#modules/alerts/decide/mapping.ts';
import {
  LEASE_MINUTES_MAX,
  REPAGE_MINUTES_MAX,
  REPAGE_MINUTES_MIN,
  type SourceSettings,
  sourceSettingsOf,
  unreadableSettings,
} from '#modules/alerts/decide/source_settings.ts';
import { toolOf } from '#modules/alerts/decide/tools.ts';
import { RoutesView, toRouteViews } from '#modules/alerts/operations/set_alert_routes.ts';
import type { AlertSourceRow } from '#modules/alerts/store/alert_source_store.ts';
import { GROUP_MINUTES_MAX } from '#modules/rules/decide/rule_settings.ts';

const Paths = Type.Array(Type.String({ minLength: 1, maxLength: MAPPED_PATH_LENGTH_MAX }), {
  maxItems: MAPPED_PATHS_MAX,
});
const Values = Type.Array(Type.String({ maxLength: STATUS_VALUE_LENGTH_MAX }), { maxItems: STATUS_VALUES_MAX });

const Mapping = StrictObject(
  {
    title: Paths,
    key: Paths,
    status: nullable(
      StrictObject({
        path: Type.String({ minLength: 1, maxLength: MAPPED_PATH_LENGTH_MAX }),
        resolved: Values,
        acknowledged: Type.Optional(Values),
        triggered: Type.Optional(Values),
      }),
    ),
    severity: Paths,
    link: Paths,
    at: Paths,
  },
  {
    description:
      'where the parts of an alert stand in any JSON, as `alerts.0.title`; null: as the template of its name says, or by usual names',
  },
);

const SOURCE_SETTING_FIELDS = {
  incidentsPer: Type.Enum(['group', 'alert'], {
    description: 'group: alerts that their tool calls one group share an incident; alert: each has its own',
  }),
  leaseMinutes: nullable(
    Type.Integer({
      minimum: 1,
      maximum: LEASE_MINUTES_MAX,
      description: 'an alert that nobody repeats for so long has no word; null: as the tool says, or as was learnt',
    }),
  ),
  onSilence: Type.Enum(['keep', 'resolve'], { description: 'what becomes of an alert without word' }),
  mapping: Type.Unsafe<WebhookMapping | null>(nullable(Mapping)),
  groupMinutes: Type.Integer({
    minimum: 0,
    maximum: GROUP_MINUTES_MAX,
    description: 'what opens so soon after another incident of the service is linked to it and does not page beside it',
  }),
};

const RepageMinutes = nullable(
  Type.Integer({
    minimum: REPAGE_MINUTES_MIN,
    maximum: REPAGE_MINUTES_MAX,
    description:
      'an acknowledged incident that is still open after so long pages again from its first step; null: never',
  }),
);

/** Settings that an input may leave out: then they stay as they are. */
const OPTIONAL_SOURCE_FIELDS = { repageMinutes: Type.Optional(RepageMinutes) };

const SourceSettingsView = Type.Object({ ...SOURCE_SETTING_FIELDS, repageMinutes: RepageMinutes });

const SourceView = Type.Object({
  sourceId: IdText,
  protocol: Type.String(),
  name: Type.String({ description: 'which of several tools that speak it; empty for the only one' }),
  tool: Type.String({ description: 'protocol and name, as people call it' }),
  settings: SourceSettingsView,
  unreadableSettings: Type.Optional(
    Type.Array(Type.String(), { description: 'settings that cannot be read: defaults apply until they are set again' }),
  ),
  lastAlertAt: nullable(Timestamp),
  alertsLastHour: Type.Integer({ description: 'different alerts that were heard of within the hour' }),
  alertsLastDay: Type.Integer({ description: 'the same within the day' }),
  accepted: Type.Integer({ description: 'events that were taken' }),
  refused: Type.Integer({ description: 'requests that were refused; one a second is counted' }),
  lastRefusedAt: nullable(Timestamp),
  lastRefusal: nullable(Type.String()),
  createdAt: Timestamp,
});

export const listAlertSources = defineOperation({
  name: 'list_alert_sources',
  summary: 'List the tools that have sent alerts of a service, what was refused of them and why, and the routes.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({ serviceId: IdText }),
  result: Type.Object({
    ...RoutesView.properties,
    address: Type.String({ description: 'where the addresses of all protocols begin' }),
    mailDomain: nullable(
      Type.String({ description: 'domain of the addresses for alerts by mail; null where this server takes none' }),
    ),
    hasKey: Type.Boolean({ description: 'whether the service has an alert key' }),
    sources: Type.Array(SourceView),
  }),
  async handle({ serviceId }, { caller, stores, baseUrl, installation, now }) {
    const service = await stores.services.get(caller.orgId, serviceId);
    const sources = await stores.alertSources.list(service.id);
    const since = { hour: now.subtract({ hours: 1 }), day: now.subtract({ hours: 24 }) };
    const seen = await stores.alerts.countSeen(service.id, since);
    return {
      serviceId: service.id,
      address: `${baseUrl.replace(/\/+$/, '')}${ALERTS_PATH}`,
      mailDomain: installation.mailInDomain,
      hasKey: (await stores.alertKeys.findSecret(service.id)) !== null,
      sources: sources.map((source) => toSourceView(source, seen.get(source.id))),
      routes: toRouteViews(await stores.alertRoutes.list(service.id)),
    };
  },
});

function toSourceView(
  source: AlertSourceRow,
  seen: { readonly hour: number; readonly day: number } = { hour: 0, day: 0 },
): Static<typeof SourceView> {
  const { id: sourceId, protocol, name, accepted, refused, lastRefusal } = source;
  const unreadable = unreadableSettings(source.settings);
  return {
    sourceId,
    protocol,
    name,
    tool: toolOf(protocol, name),
    settings: sourceSettingsOf(source.settings),
    ...(unreadable.length > 0 && { unreadableSettings: unreadable }),
    lastAlertAt: toTimestampOrNull(source.lastAlertAt),
    alertsLastHour: seen.hour,
    alertsLastDay: seen.day,
    accepted,
    refused,
    lastRefusedAt: toTimestampOrNull(source.lastRefusedAt),
    lastRefusal,
    createdAt: toTimestamp(source.createdAt),
  };
}

export const setAlertSource = defineOperation({
  name: 'set_alert_source',
  summary:
    'Set how the alerts of a source share incidents, and what becomes of those that nobody repeats, unless somebody else has changed the same since it was read.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({
    sourceId: IdText,
    ...SOURCE_SETTING_FIELDS,
    ...OPTIONAL_SOURCE_FIELDS,
    basedOn: Type.Optional(
      StrictObject(
        { ...SOURCE_SETTING_FIELDS, repageMinutes: RepageMinutes },
        { description: 'the settings that were read' },
      ),
    ),
  }),
  result: Type.Object({ sourceId: IdText, settings: SourceSettingsView }),
  conflict: 'somebody has changed the same since it was read',
  example: {
    sourceId: IDS.alertSourceId,
    incidentsPer: 'group',
    leaseMinutes: null,
    onSilence: 'keep',
    mapping: null,
    groupMinutes: 0,
    repageMinutes: 60,
    basedOn: {
      incidentsPer: 'alert',
      leaseMinutes: null,
      onSilence: 'keep',
      mapping: null,
      groupMinutes: 0,
      repageMinutes: null,
    },
  },
  async handle({ sourceId, basedOn, ...wanted }, { stores, caller, now, record }) {
    const source = await stores.alertSources.lock(caller.orgId, sourceId);
    const before = sourceSettingsOf(source.settings);
    const settings = { ...before, ...changesSince<SourceSettings>(basedOn, before, wanted, 'these settings') };
    await stores.alertSources.saveSettings(source, settings, now);
    record({ target: source.id, before, after: settings });
    return { sourceId: source.id, settings };
  },
});

export const listAlertBodies = defineOperation({
  name: 'list_alert_bodies',
  summary: 'Show the last five bodies that a source of alerts has sent. Each call is recorded in the audit log.',
  permission: 'services:edit',
  effect: 'read',
  input: StrictObject({ sourceId: IdText }),
  result: Type.Object({
    sourceId: IdText,
    bodies: Type.Array(
      Type.Object({
        receivedAt: Timestamp,
        refusal: nullable(Type.String({ description: 'why it was refused; null when it was taken' })),
        body: Type.String({ description: 'as it was sent, its first 64 KiB' }),
      }),
      { description: 'newest first; of a flood one a second is kept' },
    ),
  }),
  example: { sourceId: IDS.alertSourceId },
  async handle({ sourceId }, { caller, stores, cipher, recordCredentialRead }) {
    const source = await stores.alertSources.get(caller.orgId, sourceId);
    const bodies = await stores.alertSources.listBodies(source.id);
    recordCredentialRead(source.id);
    return {
      sourceId: source.id,
      bodies: bodies.map(({ receivedAt, refusal, sealed }) => ({
        receivedAt: toTimestamp(receivedAt),
        refusal,
        body: cipher.open(sealed).toString('utf8'),
      })),
    };
  },
});
