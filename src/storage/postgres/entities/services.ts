import { p } from '@mikro-orm/postgresql';

import type { Capability } from '#modules/capabilities/decide/capability.ts';
import type { Ingested, IngestRefusalReason } from '#modules/services/decide/ingest_refusal.ts';
import { bigint, bytes, id, instant, jsonColumn, table, text } from '#storage/postgres/entities/column_types.ts';

export const ServiceEntity = table('services', {
  id: id<'service'>().primary(),
  orgId: id<'org'>(),
  projectId: bigint().autoincrement(),
  /** Project number of a DSN from another installation that senders go on using; null for none. */
  keptProjectNumber: bigint().strictNullable().default(null),
  name: p.text(),
  environment: p.text().strictNullable(),
  scmOwner: p.text().strictNullable(),
  scmRepo: p.text().strictNullable(),
  retentionMetrics: p.integer(),
  retentionExceptions: p.integer(),
  retentionOncall: p.integer(),
  createdAt: instant(),
  updatedAt: instant(),
  deletedAt: instant().strictNullable(),
  /** Time since which its incidents page nobody; null if they page. */
  shadowSince: instant().strictNullable(),
  /** Team that owns it. */
  teamId: id<'team'>().strictNullable().default(null),
});

export const ServiceCapabilityEntity = table('service_capabilities', {
  serviceId: id<'service'>().primary(),
  capability: text<Capability>().primary(),
  isEnabled: p.boolean(),
  enabledAt: instant(),
  /** The day of the month of every later period is this one's. */
  billingAnchor: instant(),
  /** The end of the running period, whether or not the capability is still enabled. */
  billedUntil: instant(),
});

/** The ledger outlives the service: it holds the service's name and does not point at it. */
export const BillingPeriodEntity = table('billing_periods', {
  id: id<'period'>().primary(),
  orgId: id<'org'>(),
  serviceId: id<'service'>(),
  serviceName: p.text(),
  capability: text<Capability>(),
  startsAt: instant(),
  endsAt: instant(),
  amountCents: p.integer(),
  currency: p.text(),
  createdAt: instant(),
});

/** A widget of a dashboard, kept as it was given. */
export type Widget = Readonly<Record<string, unknown>>;

export const DashboardEntity = table('dashboards', {
  id: id<'dashboard'>().primary(),
  orgId: id<'org'>(),
  /** null: for the whole organization. */
  serviceId: id<'service'>().strictNullable(),
  name: p.text(),
  layout: jsonColumn<readonly Widget[]>(),
  createdAt: instant(),
  updatedAt: instant(),
});

export const IngestRefusalEntity = table('ingest_refusals', {
  serviceId: id<'service'>().primary(),
  kind: text<Ingested>().primary(),
  reason: text<IngestRefusalReason>().primary(),
  /** Start of the hour that is counted. */
  hour: instant().primary(),
  count: bigint(),
  lastAt: instant(),
});

export const MetricTypeEntity = table('metric_types', {
  serviceId: id<'service'>().primary(),
  name: p.text().primary(),
  /** Type in the numbers of Prometheus, as with `before`. */
  type: p.integer(),
  unit: p.text(),
  toldAt: instant(),
  /** The type before the last change; null if there was none. */
  before: p.integer().strictNullable(),
  changedAt: instant().strictNullable(),
  changes: p.integer(),
});

/** Time at which points of a service were last stored late (`modules/metrics/decide/late_points.ts`). */
export const LatePointsEntity = table('late_points', { serviceId: id<'service'>().primary(), storedAt: instant() });

export const SeriesDayEntity = table('series_days', {
  id: bigint().primary().autoincrement(),
  serviceId: id<'service'>(),
  /** YYYY-MM-DD. */
  day: p.date().$type<string>(),
  /** Eight bytes a series. */
  keys: bytes(),
});
