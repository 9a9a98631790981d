import { type Comparator, COMPARATORS } from '#modules/rules/decide/kind_settings.ts';
import { comparedTexts, measureOf } from '#modules/metrics/decide/quantity.ts';

const SPOKEN: Readonly<Record<Comparator, string>> = {
  '>': 'above',
  '>=': 'at or above',
  '<': 'below',
  '<=': 'at or below',
};

/**
 * Describes the value that a metric rule measured, against its threshold: `1.24 s > 800 ms`, or spoken `1.24 seconds,
 * above 800 milliseconds`. Null for details of another kind.
 */
export function comparisonOf(
  details: Readonly<Record<string, unknown>>,
  { isSpoken = false }: { readonly isSpoken?: boolean } = {},
): string | null {
  const { metricName, aggregation, threshold } = details;
  const value = details['value'] ?? null;
  const comparator = COMPARATORS.find((comparator) => comparator === details['comparator']);
  if (typeof metricName !== 'string' || typeof threshold !== 'number' || comparator === undefined) return null;
  if (value !== null && typeof value !== 'number') return null;
  const measure = measureOf(metricName, typeof aggregation === 'string' ? aggregation : '');
  const shown = comparedTexts({ value, threshold, isMoreThan: details['isMoreThan'] === true }, measure, { isSpoken });
  return isSpoken
    ? `${shown.value}, ${SPOKEN[comparator]} ${shown.threshold}`
    : `${shown.value} ${comparator} ${shown.threshold}`;
}
