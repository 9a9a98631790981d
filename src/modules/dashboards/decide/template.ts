import { compacted, newWidget } from '#modules/dashboards/decide/grid.ts';
import type { Widget, WidgetFacts } from '#modules/dashboards/decide/widget.ts';
import { type Aggregation, quantileName } from '#modules/metrics/decide/aggregation.ts';
import { divideExpression } from '#modules/metrics/decide/ratio.ts';
import { readSelector } from '#modules/metrics/decide/read_selector.ts';
import { selectorText } from '#modules/metrics/decide/selector_text.ts';

export interface SentMetric {
  readonly metricName: string;
  /** Whether it stands for the series of a histogram, none of which has its name. */
  readonly isHistogram: boolean;
  readonly aggregation: Aggregation;
  readonly seriesCount: number;
}

const CHARTS_MAX = 8;
const NUMBERS = 4;

/** Patterns of metric names, the most telling about a service's health first: errors, latency, traffic, usage. */
const INTERESTING: readonly RegExp[] = [
  /error|fail|exception|5xx/i,
  /duration|latency|response_time|_time_|elapsed/i,
  /request|http|rpc|message|order|job/i,
  /queue|depth|lag|backlog|pending/i,
  /cpu|load/i,
  /mem|heap|rss/i,
  /disk|filesystem|storage/i,
  /connection|pool|socket/i,
];
/** Metrics that people seldom look at. */
const BORING = /(?:_bucket|_created|_info|scrape_|promhttp_|process_start_time)/;

/** Returns the metrics to begin with, the most telling first; a second one of a subject comes after each first one. */
export function mostUsefulMetrics(metrics: readonly SentMetric[], limit: number): SentMetric[] {
  const worth = metrics.filter(({ metricName }) => !BORING.test(metricName));
  const bySubject = Map.groupBy(worth, ({ metricName }) => {
    const index = INTERESTING.findIndex((pattern) => pattern.test(metricName));
    return index === -1 ? INTERESTING.length : index;
  });
  const subjects = [...bySubject].toSorted(([a], [b]) => a - b).map(([, subject]) => subject);
  const chosen: SentMetric[] = [];
  for (let turn = 0; chosen.length < Math.min(limit, worth.length); turn += 1) {
    chosen.push(...subjects.flatMap((charts) => charts[turn] ?? []));
  }
  return chosen.slice(0, limit);
}

/** Returns a first dashboard of a service: numbers on top, charts below, then its incidents and who is on call. */
export function templateOf(metrics: readonly SentMetric[], newId: () => string): Widget[] {
  const telling = mostUsefulMetrics(metrics, CHARTS_MAX);
  const widgets: Widget[] = [];
  for (const metric of telling.slice(0, NUMBERS)) add(widgets, newId(), 'number', factsOf(metric));
  for (const metric of telling) add(widgets, newId(), 'series', factsOf(metric));
  add(widgets, newId(), 'incidents', { title: 'Incidents', queries: [] });
  add(widgets, newId(), 'oncall', { title: 'On call', queries: [] });
  return compacted(widgets);
}

/** Quantile of a histogram that is charted: all but one in twenty observations stay below it. */
const SHOWN_QUANTILE = { label: 'quantile', operator: '=', value: '0.95' } as const;

/** Returns what is asked for a metric: of a histogram, a quantile. */
export function queryOfMetric({ metricName, isHistogram, aggregation }: Omit<SentMetric, 'seriesCount'>) {
  const selector = selectorText(metricName, isHistogram ? [SHOWN_QUANTILE] : []);
  return { metricName: selector, aggregation, isRate: aggregation === 'sum' };
}

function factsOf(metric: SentMetric): Pick<WidgetFacts, 'title' | 'queries'> {
  const query = { serviceId: null, ...queryOfMetric(metric), splitBy: null, top: 5 };
  return { title: usualTitle(query.metricName), queries: [query] };
}

/** Returns the title of a widget that nobody has named: its metric, its quantile, and what narrows it but for variables. */
export function usualTitle(metricName: string): string {
  if (divideExpression(metricName).sides.length > 1) return metricName;
  try {
    const { name, matchers } = readSelector(metricName);
    const quantile = matchers.find(({ label, operator }) => label === 'quantile' && operator === '=');
    const others = matchers.filter((matcher) => matcher !== quantile && !matcher.value.startsWith('$'));
    const narrowed = others.length === 0 ? name : selectorText(name, others);
    return quantile === undefined ? narrowed : `${narrowed}, ${quantileName(quantile.value)}`;
  } catch {
    return metricName;
  }
}

function add(
  widgets: Widget[],
  id: string,
  kind: WidgetFacts['kind'],
  facts: Pick<WidgetFacts, 'title' | 'queries'>,
): void {
  widgets.push(newWidget(id, { kind, text: '', serviceId: null, teamId: null, ...facts }, widgets));
}
