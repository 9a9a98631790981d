import { boundText } from '#modules/metrics/decide/quantile.ts';
import type { LabelMatcher, MetricSelector } from '#modules/metrics/decide/read_selector.ts';
import { selectorText } from '#modules/metrics/decide/selector_text.ts';

export type ValuesOfLabels = ReadonlyMap<string, readonly string[]>;

const NEAREST_MAX = 3;

type Alike = (written: string, values: readonly string[]) => readonly string[];

/**
 * Returns up to three selectors that somebody may have meant who wrote one that no series meets: with another name of
 * the first label that no series has, or else with another value of the first whose value does not occur. None where
 * each occurs by itself. Numbers are compared as such, and all else by `alike`.
 *
 * @param unmatched label of a pattern that no series meets by itself
 */
export function nearestValues(
  { name, matchers }: MetricSelector,
  values: ValuesOfLabels,
  alike: Alike,
  unmatched: string | null = null,
): string[] {
  const odd = matchers.find(
    (matcher) => isUnheardOf(matcher, values) || (matcher.operator === '=~' && matcher.label === unmatched),
  );
  if (odd === undefined) return [];
  const meant = values.has(odd.label) ? valuesMeant(odd, values, alike) : labelsMeant(odd, values, alike);
  return meant.slice(0, NEAREST_MAX).map((change) =>
    selectorText(
      name,
      matchers.map((matcher) => (matcher === odd ? change : matcher)),
    ),
  );
}

/** The same of other labels: first of those alike that have the value, then of those that have it. */
function labelsMeant(odd: LabelMatcher, values: ValuesOfLabels, alike: Alike): LabelMatcher[] {
  const near = alike(odd.label, [...values.keys()]);
  const bearing = [...values].flatMap(([label, sent]) =>
    odd.operator === '=' && sent.includes(odd.value) ? label : [],
  );
  return [...new Set([...near.filter((label) => bearing.includes(label)), ...bearing, ...near])].map((label) => ({
    ...odd,
    label,
  }));
}

/** Other values of the label; a pattern becomes one of them. */
function valuesMeant(odd: LabelMatcher, values: ValuesOfLabels, alike: Alike): LabelMatcher[] {
  const sent = (values.get(odd.label) ?? []).filter((value) => value !== '');
  const near = isNumeral(odd.value) && sent.some(isNumeral) ? closest(odd.value, sent) : alike(odd.value, sent);
  return (near.length > 0 ? near : sent).map((value) => ({ label: odd.label, operator: '=', value }));
}

function isUnheardOf({ label, operator, value }: LabelMatcher, values: ValuesOfLabels): boolean {
  if (operator !== '=' || value === '') return false;
  const sent = values.get(label) ?? [];
  return !sent.includes(value) && !sent.map(boundText).includes(boundText(value));
}

function isNumeral(text: string): boolean {
  return text.trim() !== '' && Number.isFinite(Number(text));
}

function closest(written: string, values: readonly string[]): string[] {
  const off = (value: string): number => Math.abs(Number(value) - Number(written));
  return values.filter(isNumeral).toSorted((a, b) => off(a) - off(b));
}
