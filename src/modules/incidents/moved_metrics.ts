import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { readChart } from '#modules/metrics/chart.ts';
import { AGGREGATIONS, usualAggregation } from '#modules/metrics/decide/aggregation.ts';
import { findMove, MOVE_SPAN } from '#modules/metrics/decide/moved.ts';
import { selectorOfName } from '#modules/metrics/decide/selector_text.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { MetricEntry } from '#modules/metrics/store/metric_catalog.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';

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
