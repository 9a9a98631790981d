import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';

import { type InputOf, invoke, type ResultOf, topicKey } from '#console/api/actions.ts';
import type { ChartMarker, ChartSeries } from '#console/components/time_chart/chart_series.ts';
import { type Measure, measureOf, measureOfRate } from '#modules/metrics/decide/quantity.ts';
import type { TimeRange } from '#console/components/text/time_range.ts';

export type ChartQuery = InputOf<'query_metrics'>['queries'][number];
export type ChartResult = ResultOf<'query_metrics'>['results'][number];
type Period = Pick<InputOf<'query_metrics'>, 'windowMinutes' | 'from' | 'to'>;

type Key = readonly unknown[];
type Asked = Pick<ChartQuery, 'serviceId' | 'metricName'>;

/**
 * Returns what is shown while an answer is awaited: the one before, if it is of the same. What is of another service or
 * metric would stand under the name of the new one.
 */
export function keptIfSame(isSame: (key: Key) => boolean) {
  return <Data>(before: Data | undefined, query: { readonly queryKey: Key } | undefined): Data | undefined =>
    query !== undefined && isSame(query.queryKey) ? before : undefined;
}

/** Whether the last part of a key is of that service. */
export const isOfService = (key: Key, serviceId: string): boolean =>
  (key.at(-1) as { readonly serviceId?: unknown } | undefined)?.serviceId === serviceId;

/** Whether the last part of a key asks for the same metrics, in the same order; their selectors may differ. */
export function asksForSame(key: Key, queries: readonly Asked[]): boolean {
  const before = key.at(-1) as readonly Asked[];
  return queries.every(
    ({ serviceId, metricName }, place) =>
      before[place] === undefined ||
      (before[place].serviceId === serviceId && baseOf(before[place].metricName) === baseOf(metricName)),
  );
}

export const baseOf = (metricName: string): string => metricName.split('{', 1)[0]?.trim() ?? '';

/** Query of the metrics of a service with their last hour, page by page. */
export const metricListQuery = (orgId: string, wanted: Omit<InputOf<'describe_metrics'>, 'offset'>) =>
  infiniteQueryOptions({
    queryKey: [...topicKey(orgId, 'metrics'), 'describe_metrics', wanted],
    queryFn: ({ pageParam, signal }) => invoke(orgId, 'describe_metrics', { ...wanted, offset: pageParam }, signal),
    initialPageParam: 0,
    getNextPageParam: ({ nextOffset }) => nextOffset,
    placeholderData: keptIfSame((key) => isOfService(key, wanted.serviceId)),
    staleTime: 30_000,
  });

/** Converts a range to the period that operations take. */
export function periodOf(range: TimeRange): Period {
  if (range.kind === 'last') return { windowMinutes: range.minutes };
  return { from: new Date(range.from).toISOString(), to: new Date(range.to).toISOString() };
}

/**
 * Query of the charts of one page, in one request. The previous answer for the same metrics stays until its successor
 * has arrived.
 */
export const chartsQuery = (orgId: string, range: TimeRange, queries: readonly ChartQuery[]) =>
  queryOptions({
    queryKey: [...topicKey(orgId, 'metrics'), 'query_metrics', range, queries],
    queryFn: ({ signal }) => invoke(orgId, 'query_metrics', { ...periodOf(range), queries: [...queries] }, signal),
    enabled: queries.length > 0,
    placeholderData: keptIfSame((key) => asksForSame(key, queries)),
    staleTime: FRESH_MS,
    refetchInterval: refreshMsOf(range),
  });

const MINUTE_MS = 60_000;
/** Time for which an answer is fresh: prefetched data is not fetched again when it is shown. */
const FRESH_MS = 5_000;

/** Returns the refresh interval of a range that ends now, about a hundredth of its length; false for a fixed period. */
export function refreshMsOf(range: TimeRange): number | false {
  return range.kind === 'last' ? Math.min(Math.max((range.minutes * MINUTE_MS) / 100, 10_000), 5 * MINUTE_MS) : false;
}

/** The values of quantiles that lie above the highest bound. */
export function openValuesOf({
  values,
  moreThan,
}: Pick<ChartResult['series'][number], 'values' | 'moreThan'>): ReadonlySet<number> {
  return new Set(moreThan.flatMap((place) => values[place] ?? []));
}

/** The lines of an answer. `name` is what they are of; a split names them by their values. */
export function seriesOf(result: ChartResult, name: string, query: ChartQuery, isFaint = false): ChartSeries[] {
  const stepMs = result.stepSeconds * 1_000;
  const before = isFaint && query.offsetDays !== undefined ? `, ${offsetText(query.offsetDays)}` : '';
  return result.series.map(({ value, isOther, steps, values, moreThan }, index) => ({
    name: `${partName(value, isOther, query, result) ?? name}${before}`,
    times: steps.map((step) => result.start + step * stepMs),
    values,
    ...(moreThan.length > 0 && { openValues: openValuesOf({ values, moreThan }) }),
    ...(isFaint && { isFaint, look: index }),
  }));
}

function partName(value: string | null, isOther: boolean, { splitBy }: ChartQuery, result: ChartResult): string | null {
  if (isOther) return `other (${result.valueCount - result.series.length + 1})`;
  if (value === '') return `no ${splitBy ?? 'label'}`;
  return value;
}

export function offsetText(days: number): string {
  if (days === 1) return 'a day before';
  return days === 7 ? 'a week before' : `${days} days before`;
}

/** Returns the measure of an answer's values. */
export function measureOfResult(
  { metricName }: Pick<ChartQuery, 'metricName'>,
  { aggregation, isRate, unit }: Pick<ChartResult, 'aggregation' | 'isRate' | 'unit'>,
): Measure {
  return isRate ? measureOfRate(metricName, unit) : measureOf(metricName, aggregation, unit);
}

/** Returns the step of a sum or a count as text: `per 15 s`, `per min`. */
export function stepText(stepSeconds: number): string {
  if (stepSeconds < 60) return stepSeconds === 1 ? 'per second' : `per ${stepSeconds} s`;
  return stepSeconds === 60 ? 'per minute' : `per ${stepSeconds / 60} min`;
}

/** Query of incidents and releases to mark in a chart. */
export const chartMarksQuery = (orgId: string, serviceIds: readonly string[], from: number, to: number) => {
  // Rounded to whole minutes, so that a chart that moves on sends few requests.
  const minutes = { from: Math.floor(from / MINUTE_MS) * MINUTE_MS, to: Math.ceil(to / MINUTE_MS) * MINUTE_MS };
  const input = {
    serviceIds: [...serviceIds],
    from: new Date(minutes.from).toISOString(),
    to: new Date(minutes.to).toISOString(),
  };
  return queryOptions({
    queryKey: [...topicKey(orgId, 'incidents'), 'list_chart_marks', input],
    queryFn: ({ signal }) => invoke(orgId, 'list_chart_marks', input, signal),
    enabled: serviceIds.length > 0,
    placeholderData: keptIfSame((key) => String((key.at(-1) as typeof input).serviceIds) === String(serviceIds)),
  });
};

/** Query of single observations with their traces; its period is rounded to whole minutes. */
export const exemplarsQuery = (
  orgId: string,
  of: Pick<InputOf<'list_exemplars'>, 'serviceId' | 'metricName'>,
  period: { readonly from: number; readonly to: number } | null,
) => {
  const { from, to } = period ?? { from: 0, to: 0 };
  const input = {
    ...of,
    from: new Date(Math.floor(from / MINUTE_MS) * MINUTE_MS).toISOString(),
    to: new Date(Math.ceil(to / MINUTE_MS) * MINUTE_MS).toISOString(),
  };
  return queryOptions({
    queryKey: [...topicKey(orgId, 'metrics'), 'list_exemplars', input],
    queryFn: ({ signal }) => invoke(orgId, 'list_exemplars', input, signal),
    placeholderData: keptIfSame((key) => asksForSame([[key.at(-1)]], [of])),
    retry: false,
  });
};

export function markersOf(marks: ResultOf<'list_chart_marks'> | undefined): ChartMarker[] {
  if (marks === undefined) return [];
  return [
    ...marks.incidents.map(({ number, title, triggeredAt, status }) => ({
      at: Date.parse(triggeredAt),
      label: `#${number} ${title}`,
      shorter: [`#${number}`],
      tone: status === 'resolved' ? ('gray' as const) : ('red' as const),
    })),
    ...marks.deploys.map(({ release, environment, at }) => ({
      at: Date.parse(at),
      label: `${release} deployed to ${environment}`,
      shorter: [release, ...shorterRelease(release)],
      tone: 'blue' as const,
    })),
    ...marks.releases.map(({ release, at }) => ({
      at: Date.parse(at),
      label: release,
      shorter: shorterRelease(release),
      tone: 'blue' as const,
    })),
  ];
}

/** Letters of a commit that tell it from others. */
const COMMIT_LETTERS = 7;

/** Short form of a release: its version without the name of its package, of a commit its first letters. */
function shorterRelease(release: string): string[] {
  const version = release.slice(release.lastIndexOf('@') + 1);
  return [/^[0-9a-f]{12,64}$/.test(version) ? version.slice(0, COMMIT_LETTERS) : version];
}
