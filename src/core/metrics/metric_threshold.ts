import { AGGREGATIONS, type Aggregation } from '#core/metrics/aggregate.ts';
import { parseSelector } from '#core/metrics/selector.ts';
import { AppError, type Fault } from '#kernel/errors.ts';

export const COMPARATORS = ['>', '>=', '<', '<='] as const;
export type Comparator = (typeof COMPARATORS)[number];

/** The config of a `metric_threshold` rule, complete. */
export interface MetricThreshold {
  /** May carry a selector; `parseSelector` takes it. */
  readonly metricName: string;
  readonly comparator: Comparator;
  readonly threshold: number;
  readonly windowMinutes: number;
  readonly aggregation: Aggregation;
}

export type ParsedMetricThreshold =
  | { readonly kind: 'valid'; readonly config: MetricThreshold }
  | { readonly kind: 'invalid'; readonly faults: readonly Fault[] };

const WINDOW_MINUTES_MAX = 10_080;
const DEFAULTS = { windowMinutes: 5, aggregation: 'avg' } as const;
const KNOWN: ReadonlySet<string> = new Set(['metricName', 'comparator', 'threshold', 'windowMinutes', 'aggregation']);

/** Checks a config as a caller sent it, naming all of its faults, and fills in the defaults. */
export function parseMetricThreshold(config: unknown, path = 'config'): ParsedMetricThreshold {
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    return { kind: 'invalid', faults: [{ path, message: 'must be an object' }] };
  }
  const given = config as Readonly<Record<string, unknown>>;
  const { metricName, comparator, threshold } = given;
  const { windowMinutes = DEFAULTS.windowMinutes, aggregation = DEFAULTS.aggregation } = given;
  const faults: Fault[] = [];
  const add = (field: string, message: string): unknown => faults.push({ path: `${path}.${field}`, message });

  for (const field of Object.keys(given)) if (!KNOWN.has(field)) add(field, `unknown property ${field}`);
  const isNamed = typeof metricName === 'string' && metricName.trim() !== '';
  if (!isNamed) add('metricName', describe(metricName, 'a metric name, optionally with a label selector'));
  else faults.push(...selectorFaults(metricName, `${path}.metricName`));
  if (!isOneOf(COMPARATORS, comparator)) add('comparator', describe(comparator, `one of ${COMPARATORS.join(', ')}`));
  const isNumber = typeof threshold === 'number' && Number.isFinite(threshold);
  if (!isNumber) add('threshold', describe(threshold, 'a finite number'));
  const isWindow = isIntegerUpTo(windowMinutes, WINDOW_MINUTES_MAX);
  if (!isWindow) add('windowMinutes', describe(windowMinutes, `an integer from 1 to ${WINDOW_MINUTES_MAX}`));
  if (!isOneOf(AGGREGATIONS, aggregation))
    add('aggregation', describe(aggregation, `one of ${AGGREGATIONS.join(', ')}`));

  if (faults.length > 0 || !isNamed || !isNumber || !isWindow) return { kind: 'invalid', faults };
  if (!isOneOf(COMPARATORS, comparator) || !isOneOf(AGGREGATIONS, aggregation)) return { kind: 'invalid', faults };
  return { kind: 'valid', config: { metricName, comparator, threshold, windowMinutes, aggregation } };
}

function selectorFaults(metricName: string, path: string): readonly Fault[] {
  try {
    parseSelector(metricName, path);
    return [];
  } catch (error) {
    if (error instanceof AppError) return error.faults;
    throw error;
  }
}

function isOneOf<Choice extends string>(choices: readonly Choice[], value: unknown): value is Choice {
  return choices.some((choice) => choice === value);
}

function isIntegerUpTo(value: unknown, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max;
}

function describe(found: unknown, allowed: string): string {
  if (found === undefined) return `is required: ${allowed}`;
  return `must be ${allowed}, not ${JSON.stringify(found).slice(0, 80)}`;
}
