import { type Static, Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { RoutesView, toRouteViews } from '#modules/alerts/operations/route_view.ts';
import { SourceSettingsView } from '#modules/alerts/operations/source_fields.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { STRICT, IdText, nullable, Timestamp } from '#actions/fields.ts';
import { sourceSettingsOf, unreadableSettings } from '#modules/alerts/decide/source_settings.ts';
import { toolOf } from '#modules/alerts/decide/tools.ts';
import { ALERTS_PATH } from '#kernel/api_paths.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import type { AlertSourceRow } from '#modules/alerts/store/alert_source_store.ts';

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

export const listAlertSources = defineAction({
  name: 'list_alert_sources',
  consoleOnly: true,
  summary: 'List the tools that have sent alerts of a service, what was refused of them and why, and the routes.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object({ serviceId: IdText }, STRICT),
  result: Type.Object({
    ...RoutesView.properties,
    address: Type.String({ description: 'where the addresses of all protocols begin' }),
    mailDomain: nullable(
      Type.String({ description: 'domain of the addresses for alerts by mail; null where this server takes none' }),
    ),
    hasKey: Type.Boolean({ description: 'whether the service has an alert key' }),
    sources: Type.Array(SourceView),
  }),
  example: { serviceId: IDS.serviceId },
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
