import type { Labels } from '#modules/metrics/decide/point.ts';

/** A single observation of a metric, with the trace in which it was made. */
export interface Exemplar {
  /** Name of the histogram or the counter, without the suffix of one of its series. */
  readonly name: string;
  /** Labels without those that tell the series of a histogram apart. */
  readonly labels: Labels;
  /** Time in epoch milliseconds. */
  readonly at: number;
  readonly value: number;
  /** Trace id of 32 lower hex digits, or 16 if the tracer uses those. */
  readonly traceId: string;
  /** Span id of 16 lower hex digits; empty for none. */
  readonly spanId: string;
}

/** Limit for one series within a minute; more of them would be one dot. */
export const EXEMPLARS_A_MINUTE = 3;
/** Limit for one service within a minute. */
export const EXEMPLARS_OF_SERVICE_A_MINUTE = 600;
/** Limit for one request. */
export const EXEMPLARS_A_REQUEST = 1_000;
export const EXEMPLAR_DAYS = 15;

const SUFFIX = /_(?:bucket|count|sum|min|max)$/;
/** Labels of the series of a histogram or a summary. */
const WITHIN = new Set(['le', 'quantile', 'vmrange']);

/** Returns the name under which exemplars of a series are kept: one for all series of a histogram. */
export function exemplarName(name: string): string {
  return name.replace(SUFFIX, '');
}

export function isWithinHistogram(label: string): boolean {
  return WITHIN.has(label);
}

/** Returns a trace id in lower hex digits; null for what is none, or all zeros. */
export function traceIdOf(text: string): string | null {
  const id = text.toLowerCase();
  return /^(?:[0-9a-f]{32}|[0-9a-f]{16})$/.test(id) && /[^0]/.test(id) ? id : null;
}

/** Returns the id of a span; empty for what is none. */
export function spanIdOf(text: string): string {
  const id = text.toLowerCase();
  return /^[0-9a-f]{16}$/.test(id) && /[^0]/.test(id) ? id : '';
}
