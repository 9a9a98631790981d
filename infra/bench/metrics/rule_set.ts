import type { Aggregation } from '#modules/metrics/decide/aggregation.ts';

import { metricName, METRICS_A_SERVICE, SERVICES } from './history.ts';

/** A rule over the history's metrics; no value is ever above its threshold. */
export interface BenchRule {
  readonly service: number;
  readonly metric: string;
  readonly isCounter: boolean;
  /** The pattern of its selector for the label `host`; null for all series. */
  readonly host: string | null;
  readonly windowMinutes: number;
  readonly aggregation: Aggregation;
}

export const THRESHOLD = 1e12;

/** The mix of rules, in tenths: most windows are five minutes, some an hour; one rule in eleven selects series. */
const WINDOWS_MINUTES = [5, 5, 5, 5, 5, 5, 1, 1, 15, 60];
const HOSTS = [null, null, null, null, null, null, null, null, null, null, 'host-[0-4]'];
const AGGREGATIONS: readonly Aggregation[] = ['avg', 'max', 'sum', 'last', 'min', 'count'];

export const RULE_SHARES =
  'of every aggregation; windows of 1, 5, 15 and 60 min; one in eleven with a pattern on a label';

/** This many rules, spread over all metrics. */
export function makeRules(wanted: number): BenchRule[] {
  return Array.from({ length: wanted }, (_, index) => {
    const metric = Math.floor(index / SERVICES) % METRICS_A_SERVICE;
    return {
      service: index % SERVICES,
      metric: metricName(metric),
      isCounter: metric % 2 === 1,
      host: pick(HOSTS, index),
      windowMinutes: pick(WINDOWS_MINUTES, index),
      aggregation: pick(AGGREGATIONS, index),
    };
  });
}

/** Picks values in a mixed order, so that windows, aggregations, selectors and metrics occur in every combination. */
function pick<Value>(values: readonly Value[], index: number): Value {
  const place = Math.imul(index * 31 + values.length, 0x9e3779b1) >>> 16;
  const value = values[place % values.length];
  if (value === undefined) throw new RangeError('nothing to pick from');
  return value;
}
