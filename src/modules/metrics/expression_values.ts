import { type BucketValue, reduceToColumns } from '#modules/metrics/decide/buckets.ts';
import type { RuleValues } from '#modules/rules/decide/replay.ts';
import type { MetricExpression } from '#modules/metrics/decide/expression.ts';
import type { MetricSelector } from '#modules/metrics/decide/read_selector.ts';
import { ratioOf } from '#modules/metrics/decide/ratio.ts';
import type { ChartQuery, MetricQuery } from '#modules/metrics/store/metric_query.ts';
import type { ChartPart, MetricReader, RankedValues } from '#modules/metrics/store/metric_reader.ts';
import type { RuleHistoryQuery } from '#modules/metrics/store/rule_history_query.ts';

type Of<Query> = Omit<Query, 'selector'>;

/** Returns the buckets that hold data, oldest first; of a ratio those in which both sides do, and something is divided by. */
export async function queryExpression(
  metrics: Pick<MetricReader, 'query' | 'withRollups'>,
  asked: Of<MetricQuery>,
  { sides: [own, divisor], factor }: MetricExpression,
): Promise<BucketValue[]> {
  if (divisor === undefined) return await metrics.query({ ...asked, selector: own });
  const query = await metrics.withRollups(asked);
  const [numerators, denominators] = await Promise.all([
    metrics.query({ ...query, selector: own }),
    metrics.query({ ...query, selector: divisor }),
  ]);
  return ratios(numerators, denominators, factor);
}

/** Returns the values of a chart, by part; each part of a ratio is the ratio of the parts of its sides. */
export async function chartExpression(
  metrics: Pick<MetricReader, 'queryChart'>,
  query: Of<ChartQuery>,
  { sides: [own, divisor], factor }: MetricExpression,
): Promise<ChartPart[]> {
  if (divisor === undefined) return await metrics.queryChart({ ...query, selector: own });
  // The least and the greatest ratio are seldom of the least and the greatest sides.
  const all = { ...query, columnMs: null };
  const [numerators, denominators] = await Promise.all([
    metrics.queryChart({ ...all, selector: own }),
    metrics.queryChart({ ...all, selector: divisor }),
  ]);
  const pointsOf = new Map(denominators.map(({ part, points }) => [part, points]));
  return numerators.flatMap(({ part, points }) => {
    const quotients = ratios(points, pointsOf.get(part) ?? [], factor);
    if (quotients.length === 0) return [];
    return [{ part, points: query.columnMs === null ? quotients : reduceToColumns(quotients, query.columnMs) }];
  });
}

/** Ranks the values of the label by which a chart is split best; those of a ratio by its upper side. */
export async function rankExpression(
  metrics: Pick<MetricReader, 'rankValues'>,
  query: Of<MetricQuery>,
  { sides: [own] }: MetricExpression,
  { label, limit }: { readonly label: string; readonly limit: number },
): Promise<RankedValues> {
  return await metrics.rankValues({ ...query, selector: own }, label, limit);
}

/** Returns the values of each side in each window of a rule, oldest first; null without data. */
export async function historyOfSides(
  metrics: Pick<MetricReader, 'readHistory'>,
  query: Of<RuleHistoryQuery>,
  { sides }: { readonly sides: readonly MetricSelector[] },
): Promise<RuleValues[]> {
  return await Promise.all(sides.map((selector) => metrics.readHistory({ ...query, selector })));
}

function ratios(
  numerators: readonly BucketValue[],
  denominators: readonly BucketValue[],
  factor: number,
): BucketValue[] {
  const divisorAt = new Map(denominators.map((divisor) => [divisor.at, divisor]));
  return numerators.flatMap((numerator) => {
    const { value, isMoreThan } = ratioOf(numerator, divisorAt.get(numerator.at) ?? { value: null }, factor);
    if (value === null) return [];
    return [{ at: numerator.at, value, ...(isMoreThan === true && { isMoreThan }) }];
  });
}
