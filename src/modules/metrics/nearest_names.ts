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
  return nearest(wanted, names, (known) => {
    const isPart = wanted.length >= 3 && (known.includes(wanted) || wanted.includes(known));
    return isPart ? Infinity : Math.max(2, Math.ceil(known.length / 4));
  });
}

/** Returns up to three names that share half of the letters, the most alike first. */
export function namesAlike(written: string, names: readonly string[]): string[] {
  const wanted = written.slice(0, COMPARED_MAX).toLowerCase();
  return nearest(wanted, names, (known) => Math.max(wanted.length, known.length) / 2);
}

/** Returns up to three names that differ by at most `lettersMax` letters. */
function nearest(wanted: string, names: readonly string[], lettersMax: (known: string) => number): string[] {
  const found: { readonly name: string; readonly letters: number }[] = [];
  for (const name of names) {
    const known = name.slice(0, COMPARED_MAX).toLowerCase();
    const most = lettersMax(known);
    // The distance is at least the difference in length.
    if (Math.abs(known.length - wanted.length) > most) continue;
    const letters = distance(wanted, known);
    if (letters <= most) found.push({ name, letters });
  }
  return found
    .toSorted((a, b) => a.letters - b.letters || (a.name < b.name ? -1 : 1))
    .slice(0, NEAREST_MAX)
    .map(({ name }) => name);
}

/** Returns the names nearest to a selector's metric; none if it has arrived, or the histogram of its quantile. */
export function nearestToSelector(selector: MetricSelector, known: readonly string[]): string[] {
  return hasArrived(selector, known) ? [] : nearestNames(selector.name, known);
}

/** Whether the metric that a selector names is known, or the histogram of which a quantile is asked. */
export function hasArrived(selector: MetricSelector, known: readonly string[]): boolean {
  const buckets = quantileQuestionOf(selector)?.buckets.name;
  return known.includes(selector.name) || (buckets !== undefined && known.includes(buckets));
}
