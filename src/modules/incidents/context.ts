import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import type { Id } from '#kernel/ids.ts';
import { type Temporal, toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { INCIDENT_STATUSES } from '#modules/incidents/decide/incident.ts';
import { actorName } from '#modules/incidents/decide/incident_actor.ts';
import { durationsOf } from '#modules/incidents/decide/similar.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import { readChart } from '#modules/metrics/chart.ts';
import { AGGREGATIONS, usualAggregation } from '#modules/metrics/decide/aggregation.ts';
import { findMove, MOVE_SPAN } from '#modules/metrics/decide/moved.ts';
import { selectorOfName } from '#modules/metrics/decide/selector_text.ts';
import type { MetricEntry } from '#modules/metrics/store/metric_catalog.ts';
import { readDeploys } from '#modules/releases/deploys.ts';

const SIMILAR_DAYS = 90;
const SIMILAR_READ = 200;
const SIMILAR_SHOWN = 5;
const CHANGES_SHOWN = 20;
/** Limit up to which changes and deploys are counted. */
const COUNTED_MAX = 100;
const SHOWN = 10;
const AROUND_MINUTES = 15;
/** Minutes before the trigger in which changes count: their effect shows later. */
const CHANGES_BEFORE_MINUTES = 120;
const RULES_MAX = 1_000;

/** Minutes after the trigger in which deploys still count: a roll-back, or the second half of a roll-out. */
const RELEASES_AFTER_MINUTES = 120;

const Listed = {
  incidentId: IdText,
  number: Type.Integer(),
  title: Type.String(),
  status: Type.Enum([...INCIDENT_STATUSES]),
  triggeredAt: Timestamp,
};

const TotalsView = Type.Object(
  { ofService: Type.Integer(), elsewhere: Type.Integer() },
  { description: 'how many there were, those that are listed included; counted up to 1,000' },
);

/** Facts around an incident. */
export const CONTEXT_FIELDS = {
  similar: Type.Object({
    count: Type.Integer({ description: `in the last ${SIMILAR_DAYS} days, counted up to ${SIMILAR_READ}` }),
    medianSecondsToAcknowledge: nullable(Type.Integer()),
    medianSecondsToResolve: nullable(Type.Integer()),
    incidents: Type.Array(
      Type.Object({
        ...Listed,
        resolvedAt: nullable(Timestamp),
        resolvedBy: nullable(Type.String({ description: 'in words' })),
        secondsToResolve: nullable(Type.Integer()),
      }),
    ),
  }),
  changes: Type.Array(
    Type.Object({
      at: Timestamp,
      action: Type.String(),
      by: Type.String({ description: 'in words' }),
      target: IdText,
      targetName: nullable(Type.String()),
    }),
    { description: 'of the service, its rules and the policy, from two hours before the trigger; newest first' },
  ),
  changeTotal: Type.Integer({ description: `how many there were, counted up to ${COUNTED_MAX}` }),
  newGroups: Type.Array(
    Type.Object({
      groupId: IdText,
      title: Type.String(),
      level: Type.String(),
      serviceName: Type.String(),
      release: nullable(Type.String()),
      at: Timestamp,
    }),
    {
      description:
        'within a quarter of an hour; those of the same service first, there those before the trigger, and there the nearest in time',
    },
  ),
  newGroupTotals: TotalsView,
  releases: Type.Array(
    Type.Object({
      release: Type.String(),
      at: Timestamp,
      environment: nullable(
        Type.String({ description: 'where it was deployed; null when only its first exception tells of it' }),
      ),
    }),
    {
      description:
        'of the service, deployed or first seen from two hours before the trigger to two hours after it; newest first',
    },
  ),
  releaseTotal: Type.Integer({ description: `how many there were, counted up to ${COUNTED_MAX}` }),
  neighbours: Type.Array(Type.Object({ ...Listed, serviceName: Type.String() }), {
    description: 'other incidents that opened within a quarter of an hour, in the same order',
  }),
  neighbourTotals: TotalsView,
};

const ContextView = Type.Object(CONTEXT_FIELDS);

const StoredContextView = Type.Omit(ContextView, ['releases', 'releaseTotal']);

/** Reads the part of the context that is in the database of incidents. */
export async function readStoredContext(
  incident: IncidentRow,
  context: ActionContext,
): Promise<Static<typeof StoredContextView>> {
  const { stores } = context;
  const around = {
    from: incident.triggeredAt.subtract({ minutes: AROUND_MINUTES }),
    to: incident.triggeredAt.add({ minutes: AROUND_MINUTES }),
  };
  const [similar, changes, groups, neighbours] = await Promise.all([
    readSimilar(incident, context),
    readChanges(incident, context),
    stores.incidentContext.listNewGroups(incident, around, SHOWN),
    stores.incidentContext.listNeighbours(incident, around, SHOWN),
  ]);
  return {
    similar,
    changes: changes.slice(0, CHANGES_SHOWN),
    changeTotal: changes.length,
    newGroups: groups.items.map(({ createdAt, serviceId: _, ...group }) => ({ ...group, at: toTimestamp(createdAt) })),
    newGroupTotals: groups.totals,
    neighbours: neighbours.items.map(({ serviceId: _, ...other }) => ({
      ...other,
      triggeredAt: toTimestamp(other.triggeredAt),
    })),
    neighbourTotals: neighbours.totals,
  };
}

/** Throws `unavailable` when the store of exceptions cannot be asked. */
export async function readReleases(
  { serviceId, triggeredAt }: IncidentRow,
  context: ActionContext,
): Promise<Pick<Static<typeof ContextView>, 'releases' | 'releaseTotal'>> {
  const period = {
    from: triggeredAt.subtract({ minutes: CHANGES_BEFORE_MINUTES }),
    to: triggeredAt.add({ minutes: RELEASES_AFTER_MINUTES }),
  };
  const deploys = await readDeploys(serviceId, period, COUNTED_MAX, context);
  const releases = deploys.slice(0, SHOWN);
  return {
    releases: releases.map(({ release, at, environment }) => ({ release, at: toTimestamp(at), environment })),
    releaseTotal: deploys.length,
  };
}

async function readSimilar(
  incident: IncidentRow,
  { caller, stores, now }: ActionContext,
): Promise<Static<typeof ContextView>['similar']> {
  const { retentionOncall } = await stores.services.get(caller.orgId, incident.serviceId);
  const since = now.subtract({ hours: 24 * SIMILAR_DAYS });
  const keptSince = now.subtract({ hours: 24 * retentionOncall });
  const candidates = await stores.incidentContext.listSimilar(incident, { since, keptSince }, SIMILAR_READ);
  const shown = candidates.slice(0, SIMILAR_SHOWN);
  const people = await stores.people.listPeople(
    caller.orgId,
    shown.flatMap(({ resolvedBy }) => (resolvedBy !== null && 'userId' in resolvedBy ? [resolvedBy.userId] : [])),
  );
  const nameOf = (userId: string) => people.get(userId)?.name ?? 'somebody who has left';
  return {
    count: candidates.length,
    ...durationsOf(candidates),
    incidents: shown.map(({ incidentId, number, title, status, triggeredAt, resolvedAt, resolvedBy }) => ({
      incidentId,
      number,
      title,
      status,
      triggeredAt: toTimestamp(triggeredAt),
      resolvedAt: toTimestampOrNull(resolvedAt),
      resolvedBy: resolvedBy === null ? null : actorName(resolvedBy, nameOf),
      secondsToResolve: resolvedAt === null ? null : Math.round(resolvedAt.since(triggeredAt).total('seconds')),
    })),
  };
}

/** Reads who changed what, without the values: those are in the audit log, which not everybody may read. */
async function readChanges(
  incident: IncidentRow,
  { caller, stores }: ActionContext,
): Promise<Static<typeof ContextView>['changes']> {
  const rules = await stores.alertRules.listOfService(caller.orgId, incident.serviceId, RULES_MAX);
  const names = new Map<string, string>([[incident.serviceId, incident.serviceName]]);
  for (const { id, name } of rules) names.set(id, name);
  const policyId = incident.escalationPolicyId;
  const lines = await stores.auditLog.list(
    caller.orgId,
    {
      from: incident.triggeredAt.subtract({ minutes: CHANGES_BEFORE_MINUTES }),
      to: incident.triggeredAt.add({ minutes: AROUND_MINUTES }),
      targets: [
        ...names.keys(),
        ...(incident.ruleId === null ? [] : [incident.ruleId]),
        ...(policyId === null ? [] : [policyId]),
      ],
      result: 'done',
      changesOnly: true,
    },
    null,
    COUNTED_MAX,
  );
  return lines.map(({ at, action, target, actor, actorName, apiKeyName }) => ({
    at: toTimestamp(at),
    action,
    by: actorName ?? apiKeyName ?? (actor.kind === 'system' ? 'Tocsin itself' : 'somebody who is gone'),
    target: target ?? '',
    targetName: names.get(target ?? '') ?? null,
  }));
}

const LOOKED_AT_MAX = 40;
const SHOWN_MAX = 5;
/** Limit on the series of a metric: charts of more would take longer than people wait. */
const SERIES_MAX = 2_000;
const CONCURRENT = 4;
/** Width that gives a point a minute. */
const PIXELS = 85;

const MovedView = Type.Object({
  metricName: Type.String(),
  aggregation: Type.Enum([...AGGREGATIONS]),
  before: Type.Number({ description: 'mean of the hour before' }),
  after: Type.Number({ description: 'median around the trigger' }),
});

/** Fields for the metrics that left their usual range, and how many were looked at. */
export const MOVED_FIELDS = {
  metrics: Type.Array(MovedView, { description: `furthest first, at most ${SHOWN_MAX}` }),
  lookedAt: Type.Integer({ description: `metrics that were compared, at most ${LOOKED_AT_MAX}` }),
  total: Type.Integer({ description: 'metrics that the service has' }),
};

const MovedMetricsView = Type.Object(MOVED_FIELDS);

/** Throws `unavailable` when the store of metrics cannot be asked. */
export async function readMovedMetrics(
  { serviceId, triggeredAt }: IncidentRow,
  context: ActionContext,
): Promise<Static<typeof MovedMetricsView>> {
  const { caller, stores, metrics, now } = context;
  const { retentionMetrics } = await stores.services.get(caller.orgId, serviceId);
  const keptSince = now.subtract({ hours: 24 * retentionMetrics });
  const page = { words: [], sort: 'name', offset: 0, limit: LOOKED_AT_MAX } as const;
  const busiest = await metrics.catalog.search(serviceId, keptSince, page);
  const compared = busiest.metrics.filter(({ seriesCount }) => seriesCount <= SERIES_MAX);
  const moved: (Static<typeof MovedView> & { readonly score: number })[] = [];
  for (let first = 0; first < compared.length; first += CONCURRENT) {
    const some = compared.slice(first, first + CONCURRENT);
    const moves = await Promise.all(some.map((entry) => readMove(serviceId, entry, triggeredAt, context)));
    moved.push(...moves.flatMap((move) => move ?? []));
  }
  return {
    metrics: moved
      .toSorted((a, b) => b.score - a.score)
      .slice(0, SHOWN_MAX)
      .map(({ score: _, ...shown }) => shown),
    lookedAt: compared.length,
    total: busiest.total,
  };
}

async function readMove(
  serviceId: Id<'service'>,
  { name, kind }: MetricEntry,
  at: Temporal.Instant,
  context: ActionContext,
) {
  const aggregation = usualAggregation(kind);
  const period = {
    from: at.add({ milliseconds: MOVE_SPAN.fromMs }),
    to: at.add({ milliseconds: MOVE_SPAN.toMs }),
  };
  const metricName = selectorOfName(name);
  const wanted = { serviceId, metricName, aggregation, splitBy: null, top: 1, offsetDays: 0, pixels: PIXELS } as const;
  // The metric's name is known, so the names are not looked up.
  const chart = await readChart(wanted, period, context, new Map([[serviceId, Promise.resolve([name])]]));
  const { steps = [], values = [] } = chart.series[0] ?? {};
  const points = steps.map((step, index) => {
    return { atMs: chart.start + step * chart.stepSeconds * 1_000, value: values[index] ?? 0 };
  });
  const move = findMove(points, at.epochMilliseconds);
  return move === null ? null : ({ metricName: name, aggregation, ...move } as const);
}
