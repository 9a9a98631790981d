import { distance } from 'fastest-levenshtein';

import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { readExpression } from '#modules/metrics/decide/expression.ts';
import { nearestValues } from '#modules/metrics/decide/nearest_values.ts';
import { quantileQuestionOf } from '#modules/metrics/decide/quantile.ts';
import { replaceSide } from '#modules/metrics/decide/ratio.ts';
import { type MetricSelector, readSelector } from '#modules/metrics/decide/read_selector.ts';
import { readCheckedSelector } from '#modules/metrics/decide/selector.ts';
import { selectorOfName } from '#modules/metrics/decide/selector_text.ts';
import type { MetricCatalog } from '#modules/metrics/store/metric_catalog.ts';

/** Values of a label that are compared: those that most series bear. */
const VALUES_MAX = 200;
/** Patterns of a selector that are looked at. */
const PATTERNS_MAX = 5;

/**
 * The selectors that may have been meant by one that no series has met since then, though its metric has arrived; null
 * where a series meets it. Series that bear the label `quantile` themselves are looked for first, then buckets.
 */
export async function nearestToUnmet(
  catalog: MetricCatalog,
  serviceId: Id<'service'>,
  metricName: string,
  since: Temporal.Instant,
): Promise<string[] | null> {
  const selector = readCheckedSelector(metricName);
  if (selector.matchers.length === 0) return null;
  const buckets = quantileQuestionOf(selector)?.buckets;
  for (const meant of buckets === undefined ? [selector] : [selector, buckets]) {
    if (await catalog.hasSeries(serviceId, meant, since)) return null;
  }
  const written = readSelector(metricName);
  const values = await valuesOf(catalog, serviceId, written, buckets?.name ?? null, since);
  // What buckets answer is no value of their labels.
  for (const { label, value } of written.matchers) {
    if (buckets !== undefined && !buckets.matchers.some((matcher) => matcher.label === label))
      values.set(label, [value]);
  }
  const near = nearestValues(written, values, namesAlike);
  if (near.length > 0) return near;
  const unmatched = await findUnmatched(catalog, serviceId, buckets ?? selector, since);
  return nearestValues(written, values, namesAlike, unmatched);
}

/** Returns the label of the first pattern that no series meets by itself; null if each is met by some. */
async function findUnmatched(
  catalog: MetricCatalog,
  serviceId: Id<'service'>,
  { name, matchers }: MetricSelector,
  since: Temporal.Instant,
): Promise<string | null> {
  for (const matcher of matchers.filter(({ operator }) => operator === '=~').slice(0, PATTERNS_MAX)) {
    if (!(await catalog.hasSeries(serviceId, { name, matchers: [matcher] }, since))) return matcher.label;
  }
  return null;
}

/**
 * Suggests corrections of an expression that found nothing: names of other metrics, or other values of its labels. Those of a
 * ratio are whole ratios, of the first side that finds nothing.
 */
export async function nearestToAsked(
  catalog: MetricCatalog,
  serviceId: Id<'service'>,
  asked: Asked,
): Promise<string[]> {
  const { texts, sides } = readExpression(asked.metricName);
  if (texts.length === 1) return await nearestToSide(catalog, serviceId, asked);
  for (const [place, text] of texts.entries()) {
    const nearest = await nearestToSide(catalog, serviceId, { ...asked, metricName: text });
    const side = sides[place];
    if (nearest.length === 0 || side === undefined) continue;
    // Names come as they were sent, other labels as a selector.
    const isName = !hasArrived(side, asked.names);
    return nearest.map((text) => replaceSide(asked.metricName, place, isName ? selectorOfName(text) : text));
  }
  return [];
}

async function nearestToSide(
  catalog: MetricCatalog,
  serviceId: Id<'service'>,
  { metricName, names, since }: Asked,
): Promise<string[]> {
  const selector = readCheckedSelector(metricName);
  if (!hasArrived(selector, names)) return nearestToSelector(selector, names);
  return (await nearestToUnmet(catalog, serviceId, metricName, since)) ?? [];
}

interface Asked {
  readonly metricName: string;
  /** Names of all metrics that have arrived. */
  readonly names: readonly string[];
  readonly since: Temporal.Instant;
}

async function valuesOf(
  catalog: MetricCatalog,
  serviceId: Id<'service'>,
  { name }: MetricSelector,
  buckets: string | null,
  since: Temporal.Instant,
): Promise<Map<string, string[]>> {
  const search = { since, label: null, text: '', valuesMax: VALUES_MAX };
  const values = new Map<string, string[]>();
  for (const metric of buckets === null ? [name] : [name, buckets]) {
    const { labels } = await catalog.describeLabels(serviceId, { ...search, selector: { name: metric, matchers: [] } });
    for (const { label, values: labelValues } of labels) {
      values.set(label, [...(values.get(label) ?? []), ...labelValues.map(({ value }) => value)]);
    }
  }
  return values;
}

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
function nearestToSelector(selector: MetricSelector, names: readonly string[]): string[] {
  return hasArrived(selector, names) ? [] : nearestNames(selector.name, names);
}

/** Whether the metric that a selector names is known, or the histogram of which a quantile is asked. */
function hasArrived(selector: MetricSelector, names: readonly string[]): boolean {
  const buckets = quantileQuestionOf(selector)?.buckets.name;
  return names.includes(selector.name) || (buckets !== undefined && names.includes(buckets));
}
