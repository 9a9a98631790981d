import { boundText } from '#modules/metrics/decide/bucket_bound.ts';
import type { LabelMatcher, MetricSelector } from '#modules/metrics/decide/read_selector.ts';
import { selectorText } from '#modules/metrics/decide/selector_text.ts';

/** Values of the labels of a metric. */
export type ValuesOfLabels = ReadonlyMap<string, readonly string[]>;

const NEAREST_MAX = 3;

/**
 * Up to three selectors that somebody may have meant who wrote one that no series meets: with another value of the first
 * label whose value does not occur. None where each value occurs by itself. Numbers are compared as such, and other values
 * by `alike`.
 */
export function nearestValues(
  { name, matchers }: MetricSelector,
  values: ValuesOfLabels,
  alike: (written: string, known: readonly string[]) => readonly string[],
): string[] {
  const odd = matchers.find((matcher) => isUnheardOf(matcher, values));
  if (odd === undefined) return [];
  const sent = (values.get(odd.label) ?? []).filter((value) => value !== '');
  const near = isNumeral(odd.value) && sent.some(isNumeral) ? closest(odd.value, sent) : alike(odd.value, sent);
  const meant = near.length > 0 ? near : sent;
  return meant.slice(0, NEAREST_MAX).map((value) =>
    selectorText(
      name,
      matchers.map((matcher) => (matcher === odd ? { ...matcher, value } : matcher)),
    ),
  );
}

function isUnheardOf({ label, operator, value }: LabelMatcher, values: ValuesOfLabels): boolean {
  if (operator !== '=' || value === '') return false;
  const sent = values.get(label) ?? [];
  return !sent.includes(value) && !sent.map(boundText).includes(boundText(value));
}

function isNumeral(text: string): boolean {
  return text.trim() !== '' && Number.isFinite(Number(text));
}

function closest(written: string, known: readonly string[]): string[] {
  const off = (value: string): number => Math.abs(Number(value) - Number(written));
  return known.filter(isNumeral).toSorted((a, b) => off(a) - off(b));
}
