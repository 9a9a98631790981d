import { type RangeSearch, readRangeSearch } from '#console/components/text/time_range.ts';
import { SHOWN_AGGREGATIONS, type ShownAggregation } from '#modules/metrics/decide/aggregation.ts';
import type { LabelCondition } from '#modules/metrics/decide/selector_text.ts';

const OPERATORS = ['=', '!='] as const;

/** State of the explorer in an address. Absent parameters have their default. */
export interface ExploreSearch extends RangeSearch {
  readonly service?: string;
  /** Name, or a whole selector that somebody wrote. */
  readonly metric?: string;
  readonly where?: readonly LabelCondition[];
  /** Aggregation that is shown; absent for the usual aggregation of the metric, which the server knows. */
  readonly agg?: ShownAggregation;
  readonly split?: string;
  readonly top?: number;
  /** Whether a histogram is shown as a heatmap. */
  readonly heatmap?: true;
  readonly compare?: 'day' | 'week';
  readonly q?: string;
  readonly order?: 'series';
}

const CONDITIONS_MAX = 20;

export function readExploreSearch(search: Record<string, unknown>): ExploreSearch {
  const { service, metric, where, agg, split, top, heatmap, compare, q, order } = search;
  const aggregation = SHOWN_AGGREGATIONS.find((aggregation) => aggregation === agg);
  const conditions = Array.isArray(where) ? where.filter(isCondition).slice(0, CONDITIONS_MAX) : [];
  return {
    ...readRangeSearch(search),
    ...(isText(service) && { service: String(service) }),
    ...(isText(metric) && { metric: String(metric) }),
    ...(conditions.length > 0 && { where: conditions }),
    ...(aggregation !== undefined && { agg: aggregation }),
    ...(isText(split) && { split: String(split) }),
    ...(typeof top === 'number' && Number.isInteger(top) && top >= 1 && top <= 20 && { top }),
    ...(heatmap === true && { heatmap }),
    ...((compare === 'day' || compare === 'week') && { compare }),
    ...(isText(q) && { q: String(q) }),
    ...(order === 'series' && { order }),
  };
}

function isText(value: unknown): value is string | number {
  return (typeof value === 'string' && value !== '') || typeof value === 'number';
}

function isCondition(value: unknown): value is LabelCondition {
  if (typeof value !== 'object' || value === null) return false;
  const { label, operator, value: wanted } = value as Record<string, unknown>;
  return (
    typeof label === 'string' && typeof wanted === 'string' && OPERATORS.some((candidate) => candidate === operator)
  );
}
