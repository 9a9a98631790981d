import type { Labels } from '#core/metrics/point.ts';

/** A single observation of a metric, with the trace in which it was made. */
export interface Exemplar {
  /** Of the histogram or the counter, without the suffix of one of its series. */
  readonly name: string;
  /** Without those that tell the series of a histogram apart. */
  readonly labels: Labels;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly value: number;
  /** 32 lower hex digits, or 16 where the tracer has such. */
  readonly traceId: string;
  /** 16 lower hex digits; empty for none. */
  readonly spanId: string;
}

/** Of one series within a minute; more of them would be one dot. */
export const EXEMPLARS_A_MINUTE = 3;
/** Of one service within a minute. */
export const EXEMPLARS_OF_SERVICE_A_MINUTE = 600;
/** Of one request. */
export const EXEMPLARS_A_REQUEST = 1_000;
export const EXEMPLAR_DAYS = 15;

const SUFFIX = /_(?:bucket|count|sum|min|max)$/;
/** Labels of the series of a histogram or a summary. */
const WITHIN = new Set(['le', 'quantile', 'vmrange']);

/** The name under which exemplars of a series are kept: one for all series of a histogram. */
export function exemplarName(name: string): string {
  return name.replace(SUFFIX, '');
}

export function isWithinHistogram(label: string): boolean {
  return WITHIN.has(label);
}

/** A trace id in lower hex digits; null for what is none, or all zeros. */
export function traceIdOf(text: string): string | null {
  const id = text.toLowerCase();
  return /^(?:[0-9a-f]{32}|[0-9a-f]{16})$/.test(id) && /[^0]/.test(id) ? id : null;
}

/** The id of a span; empty for what is none. */
export function spanIdOf(text: string): string {
  const id = text.toLowerCase();
  return /^[0-9a-f]{16}$/.test(id) && /[^0]/.test(id) ? id : '';
}
