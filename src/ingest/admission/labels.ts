import { labelText } from '#modules/metrics/decide/quantile.ts';
import type { Labels } from '#modules/metrics/decide/point.ts';
import type { SeriesHasher } from '#modules/metrics/decide/series_key.ts';

/** A label, or a metric's name as the label `__name__`, once checked and hashed: made once a request, used by many series. */
export interface Label {
  readonly name: string;
  readonly value: string;
  /** The halves of its hash, for `SeriesHasher.addLabel`. */
  readonly high: number;
  readonly low: number;
  /** Reason why no series may carry this label; null if there is none. */
  readonly fault: string | null;
}

export const NAME_LABEL = '__name__';

export function makeLabel(name: string, text: string, textBytesMax: number, hasher: SeriesHasher): Label {
  const value = labelText(name, text);
  hasher.hashLabel(name, value);
  return { name, value, high: hasher.high, low: hasher.low, fault: faultOf(name, value, textBytesMax) };
}

/** A list with more has its memory given back. */
const KEPT_LENGTH_MAX = 64;

/** Empties a list that is filled anew for each point. Setting its length would give its memory back, too. */
export function emptyLabels(list: Label[]): void {
  if (list.length > KEPT_LENGTH_MAX) list.length = 0;
  while (list.length > 0) list.pop();
}

/** Placeholder for the labels that are not read, as there are too many for the bytes of the body. */
export const UNREAD_LABEL: Label = {
  name: '',
  value: '',
  high: 0,
  low: 0,
  fault: 'more different labels than a body of this size may have: send the rest in another',
};

/** Returns the placeholder for a label with invalid text; the series that carries it is refused. */
export function faultyLabel(name: string, fault: string): Label {
  return { name, value: '', high: 0, low: 0, fault };
}

/**
 * The labels sorted by name and without empty values, which a selector cannot tell from a missing label; or why a
 * series cannot have them. The array given is returned when it is in this form already, and never changed.
 */
export function canonicalLabels(labels: readonly Label[], labelsMax: number): readonly Label[] | string {
  let isCanonical = true;
  let previous: string | null = null;
  for (const { name, value, fault } of labels) {
    if (fault !== null) return fault;
    if (name === NAME_LABEL) return `the label "${NAME_LABEL}", which is the metric name's own`;
    isCanonical &&= value !== '' && (previous === null || previous < name);
    previous = name;
  }
  if (labels.length > labelsMax) return tooManyLabels(labelsMax);
  return isCanonical ? labels : sorted(labels);
}

export function toPairs(labels: readonly Label[]): Labels {
  const pairs: string[] = [];
  for (const { name, value } of labels) pairs.push(name, value);
  return pairs;
}

/** Formats a series for messages: `up{job="api",zone="a"}`. */
export function toSeriesText(name: string, labels: readonly Pick<Label, 'name' | 'value'>[]): string {
  if (labels.length === 0) return name === '' ? '(no name)' : name;
  return `${name}{${labels.map((label) => `${label.name}=${JSON.stringify(label.value)}`).join(',')}}`;
}

export function tooManyLabels(labelsMax: number): string {
  return `more than ${labelsMax} labels`;
}

export function tooLong(what: 'metric name' | 'label', textBytesMax: number): string {
  return what === 'label'
    ? `a label whose name or value has more than ${textBytesMax} bytes`
    : `a metric name of more than ${textBytesMax} bytes`;
}

function sorted(labels: readonly Label[]): readonly Label[] | string {
  const copy = labels.toSorted((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));
  let previous: string | null = null;
  let hasEmpty = false;
  for (const { name, value } of copy) {
    if (name === previous) return `the label ${JSON.stringify(name)} twice`;
    previous = name;
    hasEmpty ||= value === '';
  }
  return hasEmpty ? copy.filter(({ value }) => value !== '') : copy;
}

function faultOf(name: string, value: string, bytesMax: number): string | null {
  if (name === '') return 'a label without a name';
  if (!isWellFormed(name) || !isWellFormed(value)) return 'half a surrogate pair, which UTF-8 cannot hold';
  const isMetricName = name === NAME_LABEL;
  if (isMetricName && value === '') return 'no metric name';
  if (isTooLong(name, bytesMax) || isTooLong(value, bytesMax)) {
    return tooLong(isMetricName ? 'metric name' : 'label', bytesMax);
  }
  return null;
}

const SHORT_LENGTH_MAX = 32;

/** A look at each unit of a short text takes less time than asking the engine. */
function isWellFormed(text: string): boolean {
  if (text.length > SHORT_LENGTH_MAX) return text.isWellFormed();
  for (let i = 0; i < text.length; i += 1) if (text.charCodeAt(i) >= 0xd800) return text.isWellFormed();
  return true;
}

function isTooLong(text: string, bytesMax: number): boolean {
  if (text.length * 3 <= bytesMax) return false;
  let bytes = text.length;
  for (let i = 0; i < text.length && bytes <= bytesMax; i += 1) {
    const unit = text.charCodeAt(i);
    // Each half of a surrogate pair stands for two of the pair's four bytes.
    if (unit >= 0x80) bytes += unit >= 0x800 && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1;
  }
  return bytes > bytesMax;
}
