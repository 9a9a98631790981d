import { type BucketValue, reduceToColumns } from '#modules/metrics/decide/buckets.ts';
import type { RuleValues } from '#modules/rules/decide/replay.ts';
import type { MetricExpression } from '#modules/metrics/decide/expression.ts';
import type { MetricSelector } from '#modules/metrics/decide/read_selector.ts';
import { quantileQuestionOf } from '#modules/metrics/decide/quantile.ts';
import { ratioOf } from '#modules/metrics/decide/ratio.ts';
import type { ChartQuery, MetricQuery } from '#modules/metrics/store/metric_query.ts';
import type { ChartPart, MetricReader, RankedValues } from '#modules/metrics/store/metric_reader.ts';
import type { RuleHistoryQuery } from '#modules/metrics/store/rule_history_query.ts';

type Of<Query> = Omit<Query, 'selector'>;

type AskedSide = Pick<MetricQuery, 'serviceId' | 'aggregation' | 'keptSince' | 'selector'>;

/** Whether the upper side of a ratio is 0 where it has no points and the lower side has: a sum of deltas. */
export async function isZeroWithout(metrics: Pick<MetricReader, 'findKind'>, side: AskedSide): Promise<boolean> {
  return (
    side.aggregation === 'sum' &&
    quantileQuestionOf(side.selector) === null &&
    (await metrics.findKind(side)) === 'delta'
  );
}

/**
 * Returns the buckets that hold data, oldest first; of a ratio those in which both sides do, and something is divided by.
 * The sum of deltas that did not come is 0.
 */
export async function queryExpression(
  metrics: Pick<MetricReader, 'query' | 'withRollups' | 'findKind'>,
  asked: Of<MetricQuery>,
  { sides: [own, divisor], factor }: MetricExpression,
): Promise<BucketValue[]> {
  if (divisor === undefined) return await metrics.query({ ...asked, selector: own });
  const query = await metrics.withRollups(asked);
  const [numerators, denominators] = await Promise.all([
    metrics.query({ ...query, selector: own }),
    metrics.query({ ...query, selector: divisor }),
  ]);
  const isZero = numerators.length < denominators.length && (await isZeroWithout(metrics, { ...asked, selector: own }));
  return ratios(isZero ? withZeros(numerators, denominators) : numerators, denominators, factor);
}

/** Returns the values of a chart, by part; each part of a ratio is the ratio of the parts of its sides. */
export async function chartExpression(
  metrics: Pick<MetricReader, 'queryChart' | 'findKind'>,
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
  const [pointsOf, divisorsOf] = [numerators, denominators].map(
    (parts) => new Map(parts.map(({ part, points }) => [part, points])),
  );
  const lacksPoints = denominators.some(({ part, points }) => points.length > (pointsOf?.get(part)?.length ?? 0));
  const isZero = lacksPoints && (await isZeroWithout(metrics, { ...query, selector: own }));
  return [...new Set([...numerators, ...denominators].map(({ part }) => part))].flatMap((part) => {
    const [points, divisors] = [pointsOf?.get(part) ?? [], divisorsOf?.get(part) ?? []];
    const quotients = ratios(isZero ? withZeros(points, divisors) : points, divisors, factor);
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

/**
 * Returns the values of each side in each window of a rule, oldest first; null without data, or 0 as in `queryExpression`.
 * A caller that narrows the sides says of which kind the whole upper side is: the part may have no points that say it.
 */
export async function historyOfSides(
  metrics: Pick<MetricReader, 'readHistory' | 'findKind'>,
  query: Of<RuleHistoryQuery>,
  { sides, isOfDeltas }: { readonly sides: readonly MetricSelector[]; readonly isOfDeltas?: boolean | undefined },
): Promise<RuleValues[]> {
  const [dividend, ...others] = await Promise.all(sides.map((selector) => metrics.readHistory({ ...query, selector })));
  const [upper] = sides;
  if (upper === undefined || dividend === undefined) return [];
  const isZero =
    others.length > 0 &&
    dividend.values.includes(null) &&
    (isOfDeltas ?? (await isZeroWithout(metrics, { ...query, selector: upper })));
  return [isZero ? { ...dividend, values: dividend.values.map((value) => value ?? 0) } : dividend, ...others];
}

/** Adds 0 for each time that the divisors have and these values lack. */
function withZeros(values: readonly BucketValue[], divisors: readonly BucketValue[]): BucketValue[] {
  const times = new Set(values.map(({ at }) => at));
  const zeros = divisors.flatMap(({ at }) => (times.has(at) ? [] : [{ at, value: 0 }]));
  return [...values, ...zeros].toSorted((a, b) => a.at - b.at);
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
