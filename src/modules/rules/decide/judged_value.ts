import { expressionValue } from '#modules/metrics/decide/ratio.ts';
import type { MeasuredValue } from '#modules/rules/decide/breach.ts';
import type { RuleValues } from './replay.ts';
import type { Comparator, MetricRuleSettings } from '#modules/rules/decide/kind_settings.ts';

/** Settings by which a rule makes one value of what was measured. */
export interface Judging {
  readonly comparator: Comparator;
  /** Factor of a ratio; 1 for a plain selector. */
  readonly factor: number;
  readonly trafficAtLeast: number | null;
}

/** Returns the windows of a rule in minutes, the long one first. */
export function windowsOfRule(
  windowMinutes: number,
  { shortWindowMinutes = null }: Partial<Pick<MetricRuleSettings, 'shortWindowMinutes'>>,
): number[] {
  return shortWindowMinutes === null ? [windowMinutes] : [windowMinutes, shortWindowMinutes];
}

/**
 * Returns the value that a rule compares, from the sides of its expression in each of its windows, the long one first. Of two
 * windows it is the value that is less beyond the threshold, so that the rule breaches where both do. Null without data in
 * a window, and while the lower side of a ratio is less than the least traffic over the long window.
 */
export function judgedValue(
  windows: readonly (readonly MeasuredValue[])[],
  { comparator, factor, trafficAtLeast }: Judging,
): MeasuredValue {
  const traffic = windows[0]?.[1]?.value ?? 0;
  if (trafficAtLeast !== null && traffic < trafficAtLeast) return { value: null };
  const values = windows.map((sides) => expressionValue(sides, factor));
  const [first = { value: null }, ...others] = values;
  return others.reduce((least, other) => lessBeyond(comparator, least, other), first);
}

/** Returns what `judgedValue` says at each of several times, from the histories of the sides in each window. */
export function judgedHistory(windows: readonly (readonly RuleValues[])[], judging: Judging): RuleValues {
  const moreThan = new Set<number>();
  const values = (windows[0]?.[0]?.values ?? []).map((_, place) => {
    const measured = windows.map((sides) =>
      sides.map((side) => ({ value: side.values[place] ?? null, isMoreThan: side.moreThan.has(place) })),
    );
    const { value, isMoreThan = false } = judgedValue(measured, judging);
    if (isMoreThan) moreThan.add(place);
    return value;
  });
  return { values, moreThan };
}

function lessBeyond(comparator: Comparator, a: MeasuredValue, other: MeasuredValue): MeasuredValue {
  if (a.value === null || other.value === null) return { value: null };
  const isLess = comparator.startsWith('>') ? other.value < a.value : other.value > a.value;
  return isLess ? other : a;
}
