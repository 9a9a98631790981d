import { AGGREGATIONS, type Aggregation } from '#core/metrics/aggregate.ts';
import { selectorFaults } from '#core/metrics/selector.ts';
import type { Fault } from '#kernel/errors.ts';
import { findFaults } from '#kernel/input_faults.ts';

export const COMPARATORS = ['>', '>=', '<', '<='] as const;
export type Comparator = (typeof COMPARATORS)[number];

/** The config of a `metric_threshold` rule, complete. */
export interface MetricThreshold {
  /** May carry a selector: `parseSelector` reads it. */
  readonly metricName: string;
  readonly comparator: Comparator;
  readonly threshold: number;
  readonly windowMinutes: number;
  readonly aggregation: Aggregation;
}

export type ParsedMetricThreshold =
  | { readonly kind: 'valid'; readonly config: MetricThreshold }
  | { readonly kind: 'invalid'; readonly faults: readonly Fault[] };

const SHAPE = {
  type: 'object',
  properties: {
    metricName: { type: 'string' },
    comparator: { enum: COMPARATORS },
    threshold: { type: 'number' },
    windowMinutes: { type: 'integer', minimum: 1, maximum: 10_080 },
    aggregation: { enum: AGGREGATIONS },
  },
  required: ['metricName', 'comparator', 'threshold'],
  additionalProperties: false,
};

const DEFAULTS = { windowMinutes: 5, aggregation: 'avg' } as const;

/** Reads the config of a `metric_threshold` rule, defaults filled in; every fault is named under `path`. */
export function parseMetricThreshold(config: unknown, path = 'config'): ParsedMetricThreshold {
  const faults = findFaults({ type: 'object', properties: { [path]: SHAPE } }, { [path]: config });
  const given = config as Partial<MetricThreshold> | null;
  if (typeof given?.metricName === 'string') faults.push(...selectorFaults(given.metricName, `${path}.metricName`));
  if (faults.length > 0) return { kind: 'invalid', faults };
  return { kind: 'valid', config: { ...DEFAULTS, ...(config as MetricThreshold) } };
}
