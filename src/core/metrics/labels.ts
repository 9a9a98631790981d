import type { PointLimits } from '#core/metrics/admission.ts';
import type { Labels } from '#core/metrics/point.ts';

/** Thrown by nobody, returned instead of labels: what is wrong with a series, for all of its points. */
export interface SeriesFault {
  readonly fault: string;
}

/**
 * Brings label names and values in turn (`['b', '2', 'a', '1']`) into the canonical order and leaves out empty values,
 * which a selector cannot tell from a missing label. The array given is not changed.
 */
export function canonicalLabels(name: string, pairs: readonly string[], limits: PointLimits): Labels | SeriesFault {
  const fault = textFault('the metric name', name, limits) ?? (name === '' ? 'the metric name is empty' : null);
  if (fault !== null) return { fault };
  if (pairs.length > limits.labelsMax * 2) return { fault: tooManyLabels(limits) };
  for (let i = 0; i < pairs.length; i += 2) {
    const label = pairs[i] ?? '';
    if (label === '') return { fault: 'a label without a name' };
    const labelFault = textFault('a label name', label, limits) ?? textFault('a label value', pairs[i + 1] ?? '', limits);
    if (labelFault !== null) return { fault: labelFault };
  }
  return sortedLabels(pairs);
}

/** The same for texts whose size has been checked already. */
export function sortedLabels(pairs: readonly string[]): Labels | SeriesFault {
  let canonical = true;
  for (let i = 0; i < pairs.length && canonical; i += 2) {
    canonical = pairs[i + 1] !== '' && (i === 0 || (pairs[i - 2] ?? '') < (pairs[i] ?? ''));
  }
  return canonical ? pairs : sorted(pairs);
}

export function tooManyLabels(limits: PointLimits): string {
  return `more than ${limits.labelsMax} labels`;
}

export function tooLong(what: string, limits: PointLimits): string {
  return `${what} of more than ${limits.textBytesMax} bytes`;
}

export function isFault(result: Labels | SeriesFault): result is SeriesFault {
  return 'fault' in result;
}

/** `up{job="api",zone="a"}`: how a series is written in messages. */
export function toSeriesText(name: string, labels: Labels): string {
  if (labels.length === 0) return name;
  const pairs: string[] = [];
  for (let i = 0; i < labels.length; i += 2) pairs.push(`${labels[i]}=${JSON.stringify(labels[i + 1])}`);
  return `${name}{${pairs.join(',')}}`;
}

function sorted(pairs: readonly string[]): Labels | SeriesFault {
  const entries: [string, string][] = [];
  for (let i = 0; i < pairs.length; i += 2) entries.push([pairs[i] ?? '', pairs[i + 1] ?? '']);
  entries.sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
  const twice = entries.find(([label], i) => label === entries[i - 1]?.[0]);
  if (twice !== undefined) return { fault: `the label ${JSON.stringify(twice[0])} twice` };
  return entries.filter(([, value]) => value !== '').flat();
}

function textFault(what: string, text: string, limits: PointLimits): string | null {
  if (!text.isWellFormed()) return `${what} with half a surrogate pair, which UTF-8 cannot hold`;
  return utf8Length(text) > limits.textBytesMax ? tooLong(what, limits) : null;
}

function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit >= 0x80) bytes += unit >= 0x800 && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1;
  }
  return bytes;
}
