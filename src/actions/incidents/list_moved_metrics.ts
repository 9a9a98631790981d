import { type Static, Type } from 'typebox';

import { type ActionContext, defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { CLOSED, IdText } from '#actions/fields.ts';
import { readChart } from '#actions/metrics/chart.ts';
import { AGGREGATIONS } from '#core/metrics/aggregation.ts';
import { findMove, MOVE_SPAN } from '#core/metrics/moved.ts';
import { selectorOfName } from '#core/metrics/selector_text.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { MetricEntry } from '#storage/clickhouse/metric_catalog.ts';

const LOOKED_AT_MAX = 40;
const SHOWN_MAX = 5;
/** Charts of more series would take longer than people wait. */
const SERIES_MAX = 2_000;
const CONCURRENT = 4;
/** A point a minute. */
const PIXELS = 85;

const MovedView = Type.Object({
  metricName: Type.String(),
  aggregation: Type.Enum([...AGGREGATIONS]),
  before: Type.Number({ description: 'mean of the hour before' }),
  after: Type.Number({ description: 'median around the trigger' }),
});

export const listMovedMetrics = defineAction({
  name: 'list_moved_metrics',
  consoleOnly: true,
  summary:
    'List the metrics of the service that left their usual range around the time of an incident, furthest first.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object({ incidentId: IdText }, CLOSED),
  result: Type.Object({
    metrics: Type.Array(MovedView, { description: `at most ${SHOWN_MAX}` }),
    lookedAt: Type.Integer({ description: `metrics that were compared, at most ${LOOKED_AT_MAX}` }),
    total: Type.Integer({ description: 'metrics that the service has' }),
  }),
  example: { incidentId: EXAMPLE_IDS.incidentId },
  async handle({ incidentId }, context) {
    const { caller, stores, metrics, now } = context;
    const { serviceId, triggeredAt } = await stores.incidents.get(caller.orgId, incidentId, now);
    const { retentionMetrics } = await stores.services.get(caller.orgId, serviceId);
    const keptSince = now.subtract({ hours: 24 * retentionMetrics });
    const page = { words: [], sort: 'name', offset: 0, limit: LOOKED_AT_MAX } as const;
    const found = await metrics.catalog.search(serviceId, keptSince, page);
    const compared = found.metrics.filter(({ seriesCount }) => seriesCount <= SERIES_MAX);
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
      total: found.total,
    };
  },
});

async function readMove(
  serviceId: Id<'service'>,
  { name, kind }: MetricEntry,
  at: Temporal.Instant,
  context: ActionContext,
) {
  const aggregation = kind === 'counter' || kind === 'delta' ? 'sum' : 'avg';
  const period = {
    from: at.add({ milliseconds: MOVE_SPAN.fromMs }),
    to: at.add({ milliseconds: MOVE_SPAN.toMs }),
  };
  const metricName = selectorOfName(name);
  const wanted = { serviceId, metricName, aggregation, splitBy: null, top: 1, offsetDays: 0, pixels: PIXELS } as const;
  // The metric is known.
  const chart = await readChart(wanted, period, context, new Map([[serviceId, Promise.resolve([name])]]));
  const { steps = [], values = [] } = chart.series[0] ?? {};
  const points = steps.map((step, index) => {
    return { atMs: chart.start + step * chart.stepSeconds * 1_000, value: values[index] ?? 0 };
  });
  const move = findMove(points, at.epochMilliseconds);
  return move === null ? null : ({ metricName: name, aggregation, ...move } as const);
}
