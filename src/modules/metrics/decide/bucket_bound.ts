import type { LabelMatcher } from '#modules/metrics/decide/read_selector.ts';

/** The labels of bounds and of quantiles, whose values are numbers: Prometheus 3 writes both as floats, where Prometheus 2 kept what was exposed. */
const NUMBER_LABELS: ReadonlySet<string> = new Set(['le', 'quantile']);

/** A number as clients of Prometheus write it, and no text that merely looks like one: `007`, `0x1`. */
const NUMERAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** No upper bound, as Prometheus reads numbers, and as JavaScript and Java write them. */
const INFINITIES = /^\+?inf(?:inity)?$/i;
const INFINITE = '+Inf';

/**
 * The bound in the one spelling that is stored, which is that of OpenTelemetry's numbers: `1.0`, `1` and `1e+00` are one
 * bucket. Prometheus 3 writes what Prometheus 2 wrote as `1` as `1.0`. Other texts stay as they are.
 */
export function boundText(text: string): string {
  if (INFINITIES.test(text)) return INFINITE;
  return NUMERAL.test(text) ? String(Number(text)) : text;
}

/** The value of a label as it is stored. */
export function labelText(label: string, value: string): string {
  return NUMBER_LABELS.has(label) ? boundText(value) : value;
}

/** A fraction of zeros behind a digit, a class or a group in a pattern: `1.0`, `[15]\.0`. */
const ZERO_FRACTION = /(?<=[\d\])])\\?\.0+(?![\d*+?{])/g;

/** The same condition on the number, in every spelling that has been stored; null where nothing changes. */
export function boundMatcher({ label, operator, value }: LabelMatcher): LabelMatcher | null {
  if (!NUMBER_LABELS.has(label)) return null;
  if (operator === '=~' || operator === '!~') {
    const pattern = value.replaceAll(ZERO_FRACTION, '(?:$&)?');
    return pattern === value ? null : { label, operator, value: pattern };
  }
  const bound = boundText(value);
  const spellings = [...new Set([bound, value, ...(/^-?\d+$/.test(bound) ? [`${bound}.0`] : [])])];
  if (spellings.length === 1) return null;
  const pattern = spellings.map((spelling) => spelling.replaceAll(/[.+]/g, String.raw`\$&`)).join('|');
  return { label, operator: operator === '=' ? '=~' : '!~', value: pattern };
}

/** The one number that a matcher wants, in whichever spellings; NaN where it wants something else. */
export function numberWanted({ operator, value }: LabelMatcher): number {
  if (operator !== '=' && operator !== '=~') return Number.NaN;
  const texts = operator === '=' ? [value] : value.replaceAll('\\', '').split('|');
  const [first = Number.NaN, ...others] = texts.map((text) => (text.trim() === '' ? Number.NaN : Number(text)));
  return others.every((other) => other === first) ? first : Number.NaN;
}
