import { distance } from 'fastest-levenshtein';

import { quantileQuestionOf } from '#modules/metrics/decide/quantile.ts';
import type { MetricSelector } from '#modules/metrics/decide/read_selector.ts';

const NEAREST_MAX = 3;
/** Length up to which names are compared: the time grows with the length of both. */
const COMPARED_MAX = 120;

/**
 * Returns up to three of the names that somebody may have meant, the most alike first: those that differ by a few
 * letters, and those that contain what was written or are contained in it.
 */
export function nearestNames(written: string, names: readonly string[]): string[] {
  const wanted = written.slice(0, COMPARED_MAX).toLowerCase();
  if (wanted === '') return [];
  return nearest(wanted, names, (name) => {
    const isPart = wanted.length >= 3 && (name.includes(wanted) || wanted.includes(name));
    return isPart ? Infinity : Math.max(2, Math.ceil(name.length / 4));
  });
}

/** Returns up to three names that share half of the letters, the most alike first. */
export function namesAlike(written: string, names: readonly string[]): string[] {
  const wanted = written.slice(0, COMPARED_MAX).toLowerCase();
  return nearest(wanted, names, (name) => Math.max(wanted.length, name.length) / 2);
}

/** Returns up to three names that differ by at most `lettersMax` letters. */
function nearest(wanted: string, names: readonly string[], lettersMax: (name: string) => number): string[] {
  const near: { readonly name: string; readonly letters: number }[] = [];
  for (const name of names) {
    const compared = name.slice(0, COMPARED_MAX).toLowerCase();
    const most = lettersMax(compared);
    // The distance is at least the difference in length.
    if (Math.abs(compared.length - wanted.length) > most) continue;
    const letters = distance(wanted, compared);
    if (letters <= most) near.push({ name, letters });
  }
  return near
    .toSorted((a, b) => a.letters - b.letters || (a.name < b.name ? -1 : 1))
    .slice(0, NEAREST_MAX)
    .map(({ name }) => name);
}

/** Returns the names nearest to a selector's metric; none if it has arrived, or the histogram of its quantile. */
export function nearestToSelector(selector: MetricSelector, names: readonly string[]): string[] {
  return hasArrived(selector, names) ? [] : nearestNames(selector.name, names);
}

/** Whether the metric that a selector names is known, or the histogram of which a quantile is asked. */
export function hasArrived(selector: MetricSelector, names: readonly string[]): boolean {
  const buckets = quantileQuestionOf(selector)?.buckets.name;
  return names.includes(selector.name) || (buckets !== undefined && names.includes(buckets));
}
