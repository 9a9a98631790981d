import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { actName } from '#modules/audit/decide/act_names.ts';
import type { Id } from '#kernel/ids.ts';
import { isAtOrBefore, type Temporal, toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { queryOfMetric } from '#modules/dashboards/decide/template.ts';
import { INCIDENT_STATUSES } from '#modules/incidents/decide/incident.ts';
import { actorName } from '#modules/incidents/decide/incident_actor.ts';
import { durationsOf } from '#modules/incidents/decide/similar.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import { readChart } from '#modules/metrics/chart.ts';
import { AGGREGATIONS, usualAggregation } from '#modules/metrics/decide/aggregation.ts';
import { findMove, MOVE_SPAN } from '#modules/metrics/decide/moved.ts';
import type { MetricEntry } from '#modules/metrics/store/metric_catalog.ts';
import type { MetricReader } from '#modules/metrics/store/metric_reader.ts';
import { listNewReleases, readDeploys } from '#modules/releases/deploys.ts';

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
      act: Type.String({ description: 'the action in words' }),
      by: Type.String({ description: 'in words' }),
      target: IdText,
      targetName: nullable(Type.String()),
    }),
    {
      description:
        'of the service, its rules and the policy, from two hours before the trigger; those before it first, the nearest first, then those after it',
    },
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
        'of the service, deployed or first seen from two hours before the trigger to two hours after it; in the same order',
    },
  ),
  releaseTotal: Type.Integer({ description: `how many there were, counted up to ${COUNTED_MAX}` }),
  neighbours: Type.Array(Type.Object({ ...Listed, serviceName: Type.String(), exceptionGroupId: nullable(IdText) }), {
    description: 'other incidents that opened within a quarter of an hour, in the same order',
  }),
  neighbourTotals: TotalsView,
};

const ContextView = Type.Object(CONTEXT_FIELDS);

const StoredContextView = Type.Omit(ContextView, ['releases', 'releaseTotal']);

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

interface Span {
  readonly from: Temporal.Instant;
  readonly to: Temporal.Instant;
}

/**
 * Reads what happened before an instant, the nearest first, and then what happened after it, the nearest first, so that
 * however much follows an incident hides nothing that led to it. `read` returns the newest first, at most `COUNTED_MAX`.
 */
async function readAround<Item>(
  at: Temporal.Instant,
  { from, to }: Span,
  read: (span: Span) => Promise<readonly Item[]>,
): Promise<readonly Item[]> {
  const after = at.add({ milliseconds: 1 });
  const [before, later] = await Promise.all([read({ from, to: after }), read({ from: after, to })]);
  return [...before, ...later.toReversed()].slice(0, COUNTED_MAX);
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
  const firstSeen = await listNewReleases([serviceId], period, COUNTED_MAX, context);
  // If these are all, the store of events need not be asked again for what came before the trigger and after it.
  const seenIn = ({ from, to }: Span) =>
    firstSeen.length < COUNTED_MAX
      ? firstSeen.filter(({ at }) => isAtOrBefore(from, at) && !isAtOrBefore(to, at))
      : listNewReleases([serviceId], { from, to }, COUNTED_MAX, context);
  const deploys = await readAround(triggeredAt, period, async (span) =>
    readDeploys(serviceId, span, COUNTED_MAX, context, await seenIn(span)),
  );
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
  if (policyId !== null) {
    for (const { id, name } of await stores.policies.listAll(caller.orgId, [policyId])) names.set(id, name);
  }
  const targets = new Set([...names.keys(), incident.ruleId, policyId].filter((id) => id !== null));
  const period = {
    from: incident.triggeredAt.subtract({ minutes: CHANGES_BEFORE_MINUTES }),
    to: incident.triggeredAt.add({ minutes: AROUND_MINUTES }),
  };
  const lines = await readAround(incident.triggeredAt, period, (span) =>
    stores.auditLog.list(
      caller.orgId,
      { ...span, targets: [...targets], result: 'done', changesOnly: true },
      null,
      COUNTED_MAX,
    ),
  );
  return lines.map(({ at, action, target, actor, actorName, apiKeyName }) => ({
    at: toTimestamp(at),
    action,
    act: actName(action),
    by: actorName ?? apiKeyName ?? (actor.kind === 'system' ? 'Tocsin itself' : 'somebody who is gone'),
    target: target ?? '',
    targetName: names.get(target ?? '') ?? null,
  }));
}

const LOOKED_AT_MAX = 40;
/** Limit on the metrics out of which those that are compared are taken. */
const NAMES_MAX = 1_000;
const SHOWN_MAX = 5;
/** Limit on the series of a metric: charts of more would take longer than people wait. */
const SERIES_MAX = 2_000;
const CONCURRENT = 4;
/** Width that gives a point a minute. */
const PIXELS = 85;

const MovedView = Type.Object({
  metricName: Type.String({ description: 'as a selector; of a histogram, that of a quantile' }),
  aggregation: Type.Enum([...AGGREGATIONS]),
  isRate: Type.Boolean({ description: 'whether the values are rates per second' }),
  before: Type.Number({ description: 'average of the hour before' }),
  after: Type.Number({ description: 'median around the trigger' }),
});

/** Fields for the metrics that left their usual range, and how many were looked at. */
export const MOVED_FIELDS = {
  metrics: Type.Array(MovedView, { description: `furthest first, at most ${SHOWN_MAX}` }),
  lookedAt: Type.Integer({ description: `metrics that were compared, at most ${LOOKED_AT_MAX}` }),
  total: Type.Integer({ description: 'metrics that the service has' }),
};

const MovedMetricsView = Type.Object(MOVED_FIELDS);

type Moved = Static<typeof MovedMetricsView>;

/** Seconds for which a comparison is given again: of 40 metrics it takes 80 queries, and many look at one incident. */
const MOVED_SECONDS = 15;
const MOVED_REMEMBERED_MAX = 200;

interface Compared {
  readonly untilMs: number;
  readonly moved: Moved;
}

/** The last comparisons by incident, of this process. */
const comparedOf = new WeakMap<MetricReader, Map<Id<'incident'>, Compared>>();

/** Compares at most once in some seconds. Throws `unavailable` when the store of metrics cannot be asked. */
export async function readMovedMetrics(incident: IncidentRow, context: ActionContext): Promise<Moved> {
  const { metrics, now } = context;
  const comparisons = comparedOf.get(metrics) ?? new Map<Id<'incident'>, Compared>();
  comparedOf.set(metrics, comparisons);
  const last = comparisons.get(incident.id);
  if (last !== undefined && now.epochMilliseconds < last.untilMs) return last.moved;
  const moved = await compareMetrics(incident, context);
  comparisons.delete(incident.id);
  comparisons.set(incident.id, { untilMs: now.epochMilliseconds + MOVED_SECONDS * 1_000, moved });
  const [oldest] = comparisons.keys();
  if (comparisons.size > MOVED_REMEMBERED_MAX && oldest !== undefined) comparisons.delete(oldest);
  return moved;
}

async function compareMetrics({ serviceId, triggeredAt }: IncidentRow, context: ActionContext): Promise<Moved> {
  const { caller, stores, metrics, now } = context;
  const { retentionMetrics } = await stores.services.get(caller.orgId, serviceId);
  const keptSince = now.subtract({ hours: 24 * retentionMetrics });
  const page = { words: [], sort: 'name', offset: 0, limit: NAMES_MAX } as const;
  const named = await metrics.catalog.search(serviceId, keptSince, page);
  const aliveSince = triggeredAt.add({ milliseconds: MOVE_SPAN.fromMs });
  const comparable = named.metrics.filter(
    ({ seriesCount, lastAt }) => seriesCount <= SERIES_MAX && isAtOrBefore(aliveSince, lastAt),
  );
  const compared = spread(comparable, LOOKED_AT_MAX);
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
    total: named.total,
  };
}

/** Returns so many entries from all over a list: names that sort alike are of one part of a program. */
function spread<Entry>(entries: readonly Entry[], max: number): readonly Entry[] {
  if (entries.length <= max) return entries;
  return entries.filter(
    (_, index) => Math.floor((index * max) / entries.length) !== Math.floor(((index - 1) * max) / entries.length),
  );
}

async function readMove(
  serviceId: Id<'service'>,
  { name, kind, isHistogram }: MetricEntry,
  at: Temporal.Instant,
  context: ActionContext,
) {
  const aggregation = usualAggregation(kind);
  const period = { from: at.add({ milliseconds: MOVE_SPAN.fromMs }), to: at.add({ milliseconds: MOVE_SPAN.toMs }) };
  const query = queryOfMetric({ metricName: name, isHistogram, aggregation });
  const wanted = { serviceId, ...query, splitBy: null, top: 1, offsetDays: 0, pixels: PIXELS } as const;
  // The metric's name is known, so the names are not looked up.
  const chart = await readChart(wanted, period, context, new Map([[serviceId, Promise.resolve([name])]]));
  const { steps = [], values = [] } = chart.series[0] ?? {};
  const points = steps.map((step, index) => {
    return { atMs: chart.start + step * chart.stepSeconds * 1_000, value: values[index] ?? 0 };
  });
  const move = findMove(points, at.epochMilliseconds);
  return move === null ? null : { ...query, ...move };
}
