import { p } from '@mikro-orm/postgresql';

import type { AlertHistory, AlertLink } from '#modules/alerts/decide/alert_event.ts';
import type { RouteCondition, RouteOutcome } from '#modules/alerts/decide/route.ts';
import type { StoredSourceSettings } from '#modules/alerts/decide/source_settings.ts';
import type { IncidentStatus } from '#modules/incidents/decide/incident.ts';
import { bigint, bytes, id, instant, jsonColumn, table, text } from '#storage/postgres/entities/column_types.ts';

export const AlertKeyEntity = table('alert_keys', {
  id: id<'alertkey'>().primary(),
  orgId: id<'org'>(),
  serviceId: id<'service'>(),
  keyHash: bytes(),
  /** Sealed, so that it can be shown again. */
  secret: bytes(),
  createdAt: instant(),
  revokedAt: instant().strictNullable(),
});

/** A tool that has sent alerts of a service: a protocol, and which of several that speak it. */
export const AlertSourceEntity = table('alert_sources', {
  id: id<'alertsource'>().primary(),
  orgId: id<'org'>(),
  serviceId: id<'service'>(),
  protocol: p.text(),
  name: p.text(),
  settings: jsonColumn<StoredSourceSettings>(),
  longestGapSeconds: p.integer().strictNullable(),
  shortestGapSeconds: p.integer().strictNullable(),
  lastAlertAt: instant().strictNullable(),
  lastRefusedAt: instant().strictNullable(),
  lastRefusal: p.text().strictNullable(),
  accepted: bigint().default(0),
  refused: bigint().default(0),
  createdAt: instant(),
  updatedAt: instant(),
});

export const AlertRouteEntity = table('alert_routes', {
  id: id<'alertroute'>().primary(),
  orgId: id<'org'>(),
  serviceId: id<'service'>(),
  position: p.integer(),
  conditions: jsonColumn<readonly RouteCondition[]>(),
  outcome: text<RouteOutcome>(),
  policyId: id<'policy'>().strictNullable(),
  pagesOnRise: p.boolean(),
  createdAt: instant(),
  updatedAt: instant(),
});

export const AlertEntity = table('alerts', {
  id: id<'alert'>().primary(),
  orgId: id<'org'>(),
  serviceId: id<'service'>(),
  sourceId: id<'alertsource'>(),
  scope: p.text(),
  key: p.text(),
  groupKey: p.text().strictNullable(),
  /** Name of the tool for people. */
  tool: p.text(),
  /** Status in the tool. */
  status: text<IncidentStatus>(),
  severity: p.text(),
  title: p.text(),
  details: jsonColumn<Record<string, unknown>>(),
  links: jsonColumn<readonly AlertLink[]>(),
  images: jsonColumn<readonly AlertLink[]>(),
  /** Events of the tool, by its own time. */
  history: jsonColumn<AlertHistory>(),
  occurrences: bigint(),
  /** Start, by the tool's time, of the episode that the incident stands for. */
  episodeAt: instant().strictNullable(),
  /** Arrival of the last resolve. */
  settledAt: instant().strictNullable(),
  leaseUntil: instant().strictNullable(),
  /** Time since which nobody has repeated it, though it is open. */
  silentSince: instant().strictNullable(),
  /** A route said that it is only counted. */
  isDropped: p.boolean(),
  incidentId: id<'incident'>().strictNullable(),
  firstSeenAt: instant(),
  lastSeenAt: instant(),
});

export const AlertBodyEntity = table('alert_bodies', {
  id: bigint().primary().autoincrement(),
  serviceId: id<'service'>(),
  sourceId: id<'alertsource'>(),
  receivedAt: instant(),
  /** Reason of the refusal; null if it was accepted. */
  refusal: p.text().strictNullable(),
  /** Encrypted: it may hold anything. */
  sealed: bytes(),
});
