import type { MetricThreshold } from '#modules/rules/decide/metric_threshold.ts';
import { measureOf } from '#modules/metrics/decide/quantity.ts';
import { selectorOfName, selectorText } from '#modules/metrics/decide/selector_text.ts';

/** A rule that a metric's name suggests. Its threshold depends on what was measured. */
interface RuleTemplate extends Pick<MetricThreshold, 'aggregation' | 'comparator' | 'windowMinutes'> {
  readonly name: string;
  readonly fits: RegExp;
  /** Metrics to leave out although the name matches: buckets and counts of a histogram. */
  readonly isNot?: RegExp;
  /** Threshold if nothing was measured, or only zeros. */
  readonly fallback: number;
}

const MANY_ERRORS = 'has many errors';

/** Templates, the most important first. The first that fits a name counts. */
const TEMPLATES: readonly RuleTemplate[] = [
  {
    name: 'is down',
    fits: /(^|[_.])(up|alive|heartbeat|healthy)$/,
    aggregation: 'min',
    comparator: '<',
    windowMinutes: 5,
    fallback: 1,
  },
  {
    name: MANY_ERRORS,
    fits: /(^|[_.])(errors?|failures?|failed|exceptions?|panics?|dropped|rejected)([_.]|$)/,
    aggregation: 'sum',
    comparator: '>',
    windowMinutes: 5,
    fallback: 10,
  },
  {
    name: 'is slow',
    fits: /(duration|latency|response[_.]?time|elapsed)/,
    isNot: /[_.](bucket|count|sum|total)$/,
    aggregation: 'avg',
    comparator: '>',
    windowMinutes: 5,
    fallback: 1,
  },
  {
    name: 'has a long queue',
    fits: /(queue|backlog|lag|pending|waiting|inflight|in_flight)/,
    isNot: /[_.](bucket|count|sum|total)$/,
    aggregation: 'max',
    comparator: '>',
    windowMinutes: 10,
    fallback: 100,
  },
  {
    name: 'runs out of disk',
    fits: /(disk|filesystem|volume).*(used|usage|percent|ratio|full)/,
    aggregation: 'max',
    comparator: '>',
    windowMinutes: 15,
    fallback: 90,
  },
  {
    name: 'is under heavy load',
    fits: /(cpu|memory|mem|heap|load).*(percent|percentage|pct|ratio|usage|utili[sz]ation|load)/,
    isNot: /[_.](seconds|total)$/,
    aggregation: 'avg',
    comparator: '>',
    windowMinutes: 10,
    fallback: 90,
  },
  {
    name: 'gets no requests',
    fits: /(requests?|orders?|logins?|checkouts?|payments?)[_.](total|count)$/,
    aggregation: 'sum',
    comparator: '<',
    windowMinutes: 15,
    fallback: 1,
  },
];

/** Suggestion for a metric: the config without its threshold, and the title of the rule. */
export interface SuggestedRule {
  readonly title: string;
  readonly config: Omit<MetricThreshold, 'threshold'>;
  readonly fallback: number;
}

/** Suggests rules for the metrics that a service sends: at most one of each kind, the most important first. */
export function suggestedRules(metricNames: readonly string[]): SuggestedRule[] {
  const histograms = histogramsOf(metricNames);
  const parts = new Set([...histograms].flatMap((name) => PARTS.map((suffix) => `${name}${suffix}`)));
  const names = [...metricNames, ...[...histograms].filter((name) => !metricNames.includes(name))];
  const ratio = errorRatioOf(metricNames);
  const templates = ratio === null ? TEMPLATES : TEMPLATES.filter(({ name }) => name !== MANY_ERRORS);
  const suggested = templates.flatMap((template) => {
    const name = names.find(
      (metric) =>
        templateOf(metric) === template &&
        !parts.has(metric) &&
        (template.aggregation !== 'sum' || !histograms.has(metric)),
    );
    if (name === undefined) return [];
    const metricName = selectorText(name, histograms.has(name) ? [SLOWEST] : []);
    const { name: title, aggregation, comparator, windowMinutes, fallback } = template;
    return { title, config: { metricName, aggregation, comparator, windowMinutes }, fallback };
  });
  return ratio === null ? suggested : [ratio, ...suggested];
}

const FAILURES = /(?<=^|[_.])(?:errors?|failures?|failed)(?=[_.]|$)/;
const ALL = ['requests', 'calls', 'attempts', 'jobs'];

/** Suggests the share of failures, where the same metric is sent for all requests: it says more than their number. */
function errorRatioOf(metricNames: readonly string[]): SuggestedRule | null {
  const names = new Set(metricNames);
  for (const failures of metricNames.filter((name) => FAILURES.test(name))) {
    const all = ALL.map((word) => failures.replace(FAILURES, word)).find((name) => names.has(name));
    if (all === undefined) continue;
    const metricName = `${selectorOfName(failures)} / ${selectorOfName(all)} * 100`;
    const config = { metricName, aggregation: 'sum', comparator: '>', windowMinutes: 5 } as const;
    return { title: 'has a high error ratio', config, fallback: 5 };
  }
  return null;
}

/**
 * Selector of a histogram's slow twentieth, which tells more than the mean; no series has the name of the histogram
 * itself.
 */
const SLOWEST = { label: 'quantile', operator: '=', value: '0.95' } as const;
const BUCKET = '_bucket';
const PARTS = [BUCKET, '_sum', '_min', '_max'];

function histogramsOf(metricNames: readonly string[]): ReadonlySet<string> {
  return new Set(metricNames.filter((name) => name.endsWith(BUCKET)).map((name) => name.slice(0, -BUCKET.length)));
}

function templateOf(metricName: string): RuleTemplate | undefined {
  const name = metricName.toLowerCase();
  return TEMPLATES.find(({ fits, isNot }) => fits.test(name) && isNot?.test(name) !== true);
}

/** Suggests a round threshold beyond all measured values, with room; `values` are those of the rule's windows. */
export function suggestThreshold(
  { config, fallback }: Pick<SuggestedRule, 'config' | 'fallback'>,
  values: readonly (number | null)[],
): number {
  const measured = values.filter((value) => value !== null);
  if (config.comparator.startsWith('<')) {
    const least = measured.reduce((a, b) => Math.min(a, b), Infinity);
    return least > 1 && Number.isFinite(least) ? roundDown(least / 2) : fallback;
  }
  const greatest = measured.reduce((a, b) => Math.max(a, b), 0);
  if (greatest <= 0) return fallback;
  const wanted = roundUp(greatest * 1.25);
  const most = mostOf(config);
  return most === null ? wanted : Math.min(Math.max(wanted, most * 0.8), most * 0.95);
}

/** Returns the most that such a metric can reach; null if that is unknown. */
function mostOf({ metricName, aggregation }: SuggestedRule['config']): number | null {
  const { unit } = measureOf(metricName, aggregation);
  if (unit === 'percent') return 100;
  return unit === 'ratio' ? 1 : null;
}

function roundUp(value: number): number {
  const step = 10 ** Math.floor(Math.log10(value));
  return Number((Math.ceil((value / step) * 2) * (step / 2)).toPrecision(2));
}

function roundDown(value: number): number {
  const step = 10 ** Math.floor(Math.log10(value));
  return Number((Math.floor(value / step) * step).toPrecision(1));
}
