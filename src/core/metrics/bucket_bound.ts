import type { LabelMatcher } from '#core/metrics/read_selector.ts';

/** The label that bears the upper bound of a bucket, of histograms that are sent as series. */
export const BOUND_LABEL = 'le';

/** A number as clients of Prometheus write it, and no text that merely looks like one: `007`, `0x1`. */
const NUMERAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const INFINITIES = new Set(['+Inf', 'Inf', '+inf', 'inf']);
const INFINITE = '+Inf';

/**
 * The bound in the one spelling that is stored, which is that of OpenTelemetry's numbers: `1.0`, `1` and `1e+00` are one
 * bucket. Prometheus 3 writes what Prometheus 2 wrote as `1` as `1.0`. Other texts stay as they are.
 */
export function boundText(text: string): string {
  if (INFINITIES.has(text)) return INFINITE;
  return NUMERAL.test(text) ? String(Number(text)) : text;
}

/** The same condition on the bound, in every spelling that has been stored; null where the matcher is about another label. */
export function boundMatcher({ label, operator, value }: LabelMatcher): LabelMatcher | null {
  if (label !== BOUND_LABEL || (operator !== '=' && operator !== '!=')) return null;
  const bound = boundText(value);
  const spellings = [...new Set([bound, value, ...(/^-?\d+$/.test(bound) ? [`${bound}.0`] : [])])];
  if (spellings.length === 1) return null;
  const pattern = spellings.map((one) => one.replaceAll(/[.+]/g, String.raw`\$&`)).join('|');
  return { label, operator: operator === '=' ? '=~' : '!~', value: pattern };
}
