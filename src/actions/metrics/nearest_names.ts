import { distance } from 'fastest-levenshtein';

import { quantileQuestionOf } from '#core/metrics/quantile.ts';
import type { MetricSelector } from '#core/metrics/read_selector.ts';

const NEAREST_MAX = 3;
/** Longer names are compared by their beginnings. */
const COMPARED_MAX = 120;

/**
 * Up to three of the names that somebody may have meant, the most alike first: those that differ by a few letters, and
 * those that contain what was written or are contained in it.
 */
export function nearestNames(written: string, names: readonly string[]): string[] {
  const wanted = written.slice(0, COMPARED_MAX).toLowerCase();
  if (wanted === '') return [];
  return names
    .map((name) => {
      const known = name.slice(0, COMPARED_MAX).toLowerCase();
      const isPart = wanted.length >= 3 && (known.includes(wanted) || wanted.includes(known));
      const letters = distance(wanted, known);
      return { name, letters, isNear: isPart || letters <= Math.max(2, Math.ceil(known.length / 4)) };
    })
    .filter(({ isNear }) => isNear)
    .toSorted((a, b) => a.letters - b.letters || (a.name < b.name ? -1 : 1))
    .slice(0, NEAREST_MAX)
    .map(({ name }) => name);
}

/** The same for the metric that a selector names; none where it has arrived, or the histogram of which a quantile is asked. */
export function nearestToSelector(selector: MetricSelector, known: readonly string[]): string[] {
  const buckets = quantileQuestionOf(selector)?.buckets.name;
  const hasArrived = known.includes(selector.name) || (buckets !== undefined && known.includes(buckets));
  return hasArrived ? [] : nearestNames(selector.name, known);
}
