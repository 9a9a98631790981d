import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { nullable } from '#actions/fields.ts';
import { nearestToAsked } from '#modules/metrics/unmet_selectors.ts';
import { type Aggregation, AGGREGATIONS, askedOf, usuallyShown } from '#modules/metrics/decide/aggregation.ts';
import {
  CHART_MINUTES_MAX,
  cutForHeatmap,
  cutRange,
  widenForRates,
  widenToColumns,
  withoutBegun,
} from '#modules/metrics/decide/buckets.ts';
import { rangeOf } from '#modules/metrics/decide/exponential_buckets.ts';
import { bucketsOfHistogram, quantileQuestionOf } from '#modules/metrics/decide/quantile.ts';
import { selectorText } from '#modules/metrics/decide/selector_text.ts';
import { parseExpression } from '#modules/metrics/decide/selector.ts';
import { nextTurn } from '#kernel/cooperative_task.ts';
import { meanSpacingSeconds } from '#modules/metrics/decide/spacing.ts';
import { chartExpression, rankExpression } from '#modules/metrics/expression_values.ts';
import { invalidInput } from '#kernel/errors.ts';
import { Temporal } from '#kernel/time.ts';

/** The period of charts; half-open. */
export interface Period {
  readonly from: Temporal.Instant;
  readonly to: Temporal.Instant;
}

/** Reads a period from a caller's texts. Throws `invalid_input`. */
export function parsePeriod(from: string, to: string): Period {
  const period = { from: instantOf(from, 'from'), to: instantOf(to, 'to') };
  const minutes = (period.to.epochMilliseconds - period.from.epochMilliseconds) / 60_000;
  if (!(minutes > 0)) throw invalidInput([{ path: 'to', message: 'must be later than from' }]);
  if (minutes > CHART_MINUTES_MAX) {
    throw invalidInput([{ path: 'from', message: `at most ${CHART_MINUTES_MAX / 1_440} days before to` }]);
  }
  return period;
}

function instantOf(text: string, path: string): Temporal.Instant {
  try {
    return Temporal.Instant.from(text);
  } catch {
    throw invalidInput([{ path, message: 'is not a valid time' }]);
  }
}

export const ChartResultView = Type.Object({
  aggregation: Type.Enum([...AGGREGATIONS], { description: 'the one asked for, or the usual one of the metric' }),
  isRate: Type.Boolean({ description: 'whether a sum is shown as its rate per second' }),
  stepSeconds: Type.Number({ description: 'the width of a bucket: what a sum or a count is of' }),
  rateSeconds: nullable(
    Type.Number({ description: 'time over which each rate is taken, in seconds; null where no rate is shown' }),
  ),
  isReduced: Type.Boolean({ description: 'only the least and the greatest bucket of each pixel are here' }),
  start: Type.Number({
    description: 'epoch milliseconds of the first bucket, those of an earlier day moved to this one',
  }),
  series: Type.Array(
    Type.Object({
      value: nullable(Type.String({ description: 'of the label that the chart is split by; empty: without it' })),
      isOther: Type.Boolean({ description: 'all values of the label that have no series of their own' }),
      steps: Type.Array(Type.Number(), { description: 'how many buckets after the first' }),
      values: Type.Array(Type.Number()),
      moreThan: Type.Array(Type.Integer(), {
        description:
          'the positions of quantiles above the highest bound of a histogram: they are more than their value',
      }),
    }),
  ),
  valueCount: Type.Integer({ description: 'how many values the label has; 0 without a split' }),
  nearest: Type.Array(Type.String(), {
    description: 'what may have been meant, where the metric is not known or no series meets the selector',
  }),
});

type ChartResult = Static<typeof ChartResultView>;

interface WantedChart {
  readonly serviceId: string;
  readonly metricName: string;
  /** Null for the usual one: a counter as its rate, other values by their mean. */
  readonly aggregation: Aggregation | null;
  /** Whether a sum is asked for as a rate. */
  readonly isRate?: boolean;
  /** Whether the observations of a histogram are asked for by their sizes. */
  readonly isHeatmap?: boolean;
  readonly splitBy: string | null;
  readonly top: number;
  readonly offsetDays: number;
  readonly pixels: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/**
 * Reads one chart. Throws what `query_metric` throws for a faulty selector or an unknown service. `names` caches the
 * metric names of each service for all charts of a request.
 */
export async function readChart(
  {
    serviceId,
    metricName,
    aggregation: wanted,
    isRate: isRateWanted = false,
    isHeatmap = false,
    splitBy,
    top,
    offsetDays,
    pixels,
  }: WantedChart,
  { from, to }: Period,
  { caller, stores, metrics, now }: Pick<ActionContext, 'caller' | 'stores' | 'metrics' | 'now'>,
  names: Map<string, Promise<string[]>>,
): Promise<ChartResult> {
  const expression = parseExpression(metricName);
  const service = await stores.services.get(caller.orgId, serviceId);
  const offset = offsetDays * DAY_MS;
  const keptSince = now.subtract({ hours: 24 * service.retentionMetrics });
  const span = { fromMs: from.epochMilliseconds - offset, toMs: to.epochMilliseconds - offset };
  const sent = isHeatmap ? expression.sides.map(bucketsOfHistogram) : expression.sides;
  const isRatio = expression.sides.length > 1;
  const [intervalMs, { aggregation, isRate }] = await Promise.all([
    metrics.findInterval(service.id, sent, span),
    wanted !== null || isHeatmap ? { aggregation: wanted ?? 'sum', isRate: isRateWanted } : usual(),
  ]);
  if (isHeatmap) return await heatmap();
  const cut = cutRange(span.fromMs, span.toMs, pixels, intervalMs);
  const isManyRatios = splitBy !== null && isRatio;
  const [side] = expression.sides;
  const isOne = !isRatio && quantileQuestionOf(side) === null;
  const isRateShown = isRate && aggregation === 'sum' && isOne;
  const widened = isRateShown ? widenForRates(cut) : isManyRatios ? widenToColumns(cut) : cut;
  // Until it is over, a bucket lacks time, and those who have not sent yet: a total would end with a dip that is none.
  const isTotal = isOne && ['sum', 'last', 'count'].includes(aggregation);
  const needsWhole = isRateShown || (isTotal && widened.stepMs <= Math.max(MINUTE_MS, intervalMs));
  const { columnMs, ...buckets } = needsWhole ? withoutBegun(widened, now.epochMilliseconds) : widened;
  const query = await metrics.withRollups({ serviceId: service.id, aggregation, buckets, keptSince });
  const ranked =
    splitBy === null ? null : await rankExpression(metrics, query, expression, { label: splitBy, limit: top });
  const split = splitBy === null || ranked === null ? null : { label: splitBy, values: ranked.values };
  const parts = await chartExpression(metrics, { ...query, split, columnMs }, expression);
  const series = parts
    .map(({ part, points }) => ({
      part,
      value: split?.values[part - 1] ?? null,
      isOther: split !== null && part === 0,
      steps: points.map(({ at }) => (at - buckets.fromMs) / buckets.stepMs),
      values: points.map(({ value }) => value),
      moreThan: points.flatMap(({ isMoreThan = false }, place) => (isMoreThan ? [place] : [])),
    }))
    // Sorts by rank; the sum of all others comes last.
    .toSorted((a, b) => (a.part || Number.MAX_VALUE) - (b.part || Number.MAX_VALUE))
    .map(({ part: _, ...shown }) => shown);
  const stepSeconds = buckets.stepMs / 1_000;
  const spacings = isRateShown ? series.map(({ steps }) => meanSpacingSeconds(steps, stepSeconds)) : [];
  return {
    aggregation,
    isRate: isRateShown,
    stepSeconds,
    rateSeconds: spacings.length === 0 ? null : Math.max(...spacings),
    isReduced: columnMs !== null,
    start: buckets.fromMs + offset,
    series: series.map((line, place) => {
      const seconds = spacings[place];
      return seconds === undefined ? line : { ...line, values: line.values.map((value) => value / seconds) };
    }),
    valueCount: ranked?.count ?? 0,
    nearest: series.length > 0 ? [] : await misspelt(),
  };

  async function usual(): Promise<ReturnType<typeof askedOf>> {
    const [selector] = expression.sides;
    const kind =
      quantileQuestionOf(selector) === null
        ? await metrics.findKind({ serviceId: service.id, selector, keptSince })
        : null;
    return askedOf(usuallyShown(kind, isRatio));
  }

  async function heatmap(): Promise<ChartResult> {
    const [selector, divisor] = expression.sides;
    if (divisor !== undefined) {
      throw invalidInput([{ path: 'metricName', message: 'a heatmap is of one histogram: leave the division out' }]);
    }
    const buckets = bucketsOfHistogram(selector);
    const columns = cutForHeatmap(span.fromMs, span.toMs, pixels, intervalMs);
    const asked = { serviceId: service.id, selector, aggregation: 'sum', buckets: columns, split: null } as const;
    const { starts, rows } = await metrics.queryHeatmap({ ...asked, columnMs: null, keptSince });
    const series = rows.map(({ from: above, to: upTo, counts }) => {
      const filled = counts.flatMap((count, place) => (count > 0 ? [place] : []));
      return {
        value: rangeOf(above, upTo),
        isOther: false,
        steps: filled.map((place) => ((starts[place] ?? 0) - columns.fromMs) / columns.stepMs),
        values: filled.map((place) => Math.round((counts[place] ?? 0) * 100) / 100),
        moreThan: [],
      };
    });
    return {
      aggregation: 'sum',
      isRate: false,
      stepSeconds: columns.stepMs / 1_000,
      rateSeconds: null,
      isReduced: false,
      start: columns.fromMs + offset,
      series,
      valueCount: 0,
      nearest: series.length > 0 ? [] : await misspelt(selectorText(buckets.name, buckets.matchers)),
    };
  }

  async function misspelt(asked = metricName): Promise<string[]> {
    const namesPromise = names.get(service.id) ?? metrics.listNames(service.id, keptSince);
    names.set(service.id, namesPromise);
    const all = await namesPromise;
    await nextTurn();
    return await nearestToAsked(metrics.catalog, service.id, { metricName: asked, names: all, since: keptSince });
  }
}
