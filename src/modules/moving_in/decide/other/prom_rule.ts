import { WINDOW_MINUTES_MAX } from '#modules/metrics/decide/limits.ts';

/** A rule on a metric, as the file has it, that an expression of PromQL comes down to. */
export interface MetricRule {
  readonly metricName: string;
  readonly aggregation: 'avg' | 'sum' | 'min' | 'max' | 'count' | 'last';
  readonly windowMinutes: number;
  readonly comparator: '>' | '>=' | '<' | '<=';
  readonly threshold: number;
  /** Sentences on what it loses; empty: nothing. */
  readonly losses: readonly string[];
}

export interface NoRule {
  readonly because: string;
}

/** Limit on the characters of an expression that is read; those that a rule can measure have some hundred. */
const EXPRESSION_LENGTH_MAX = 4_000;
const BRACES = /\{[^{}]*\}/g;
const AND_OR_BRACES = /\{[^{}]*\}|(?<!\s)\s+and\s+/gi;
/** The last comparison, and what stands behind it. */
const COMPARISON = /(>=|<=|>|<)([^<>]*)$/;
const NUMBERS = /^[-+0-9.eE*/ ()\s]+$/;
const SELECTOR = String.raw`[A-Za-z_:][\w:]*(?:\{[^{}]*\})?`;
const WINDOW = String.raw`\[(\d+)([smhd])(?::[^\]]*)?\]`;
const MINUTES: Record<string, number> = { s: 1 / 60, m: 1, h: 60, d: 1_440 };

/** Reads `expression comparator number`; of conditions joined by "and" the first. */
export function ruleOfExpression(expr: string): MetricRule | NoRule {
  if (expr.length > EXPRESSION_LENGTH_MAX) return { because: `it is longer than ${EXPRESSION_LENGTH_MAX} characters` };
  const text = expr.replaceAll(/#.*$/gm, '').trim();
  if (/\b(?:or|unless)\b/i.test(text.replaceAll(BRACES, ''))) return { because: 'it joins series by "or" or "unless"' };
  const [first = '', ...others] = conditionsOf(text);
  const compared = unwrapped(first.trim());
  const match = COMPARISON.exec(compared);
  const threshold = match === null ? null : numberOf(match[2] ?? '');
  if (match === null || threshold === null) return { because: 'it does not compare with a number' };
  const comparator = comparatorOf(match[1] ?? '');
  const losses = others.length > 0 ? ['Its further conditions are not kept, so it opens incidents more often.'] : [];
  const measured = measuredBy(unwrapped(compared.slice(0, match.index).trim()), comparator.startsWith('<'));
  if ('because' in measured) return measured;
  const { metricName, aggregation, windowMinutes, scale } = measured;
  if (!Number.isFinite(threshold * scale)) return { because: 'its number is none that a rule compares with' };
  if (windowMinutes > WINDOW_MINUTES_MAX)
    return { because: `it looks back further than ${WINDOW_MINUTES_MAX} minutes` };
  losses.push(...measured.losses);
  return { metricName, aggregation, windowMinutes, comparator, threshold: threshold * scale, losses };
}

/** Divides an expression at each `and` outside braces. */
function conditionsOf(text: string): string[] {
  const ands = [...text.matchAll(AND_OR_BRACES)].filter(([found]) => !found.startsWith('{'));
  const starts = [0, ...ands.map(({ index, 0: found }) => index + found.length)];
  return starts.map((start, place) => text.slice(start, ands[place]?.index));
}

function comparatorOf(text: string): MetricRule['comparator'] {
  return text === '>=' || text === '<' || text === '<=' ? text : '>';
}

/** Takes brackets around the whole away. */
function unwrapped(text: string): string {
  if (!text.startsWith('(') || !text.endsWith(')')) return text;
  let depth = 0;
  for (const [index, character] of text.split('').entries()) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (depth === 0 && index < text.length - 1) return text;
  }
  return unwrapped(text.slice(1, -1).trim());
}

/** Reads a number or a product of numbers, such as `14.4 * 0.001`. */
function numberOf(text: string): number | null {
  if (!NUMBERS.test(text)) return null;
  const factors = text
    .replaceAll(/[()\s]/g, '')
    .split('*')
    .map((factor) => (factor === '' ? Number.NaN : Number(factor)));
  const product = factors.reduce((a, b) => a * b, 1);
  return Number.isFinite(product) ? Number(product.toPrecision(12)) : null;
}

interface Measured {
  readonly metricName: string;
  readonly aggregation: MetricRule['aggregation'];
  readonly windowMinutes: number;
  readonly scale: number;
  /** Whether each series is judged by itself there, as it is now. */
  readonly isSingle?: true;
  readonly losses: readonly string[];
}

function measuredBy(text: string, isBelow: boolean): Measured | NoRule {
  const [ratio = '', factor] = text.split(/(?<!\s)\s*\*\s*(?=[\d.]+$)/);
  const sides = splitRatio(unwrapped(ratio));
  if (sides !== null) {
    const [left, right] = sides.map((side) => measuredBy(unwrapped(side), isBelow));
    if (left === undefined || right === undefined || 'because' in left || 'because' in right)
      return { because: 'a side of its ratio is none that a rule measures' };
    if ([left, right].some(({ isSingle }) => isSingle)) return { because: 'it divides series one by one' };
    if (left.aggregation !== right.aggregation || left.windowMinutes !== right.windowMinutes)
      return { because: 'the sides of its ratio are measured differently' };
    const behind = factor === undefined ? '' : ` * ${factor}`;
    return {
      ...left,
      metricName: `${left.metricName} / ${right.metricName}${behind}`,
      scale: 1,
      losses: [...new Set([...left.losses, ...right.losses])],
    };
  }
  if (factor !== undefined) {
    const measured = measuredBy(unwrapped(ratio), isBelow);
    return 'because' in measured ? measured : { ...measured, scale: measured.scale / Number(factor) };
  }
  return measuredSeries(text, isBelow);
}

function splitRatio(text: string): [string, string] | null {
  let depth = 0;
  for (const [index, character] of text.split('').entries()) {
    if ('([{'.includes(character)) depth += 1;
    if (')]}'.includes(character)) depth -= 1;
    if (character === '/' && depth === 0) return [text.slice(0, index).trim(), text.slice(index + 1).trim()];
  }
  return null;
}

function measuredSeries(text: string, isBelow: boolean): Measured | NoRule {
  const by =
    /^(sum|avg|min|max|count)\s*(?:(by|without)\s*\(([^)]*)\))?\s*\((.*)\)\s*(?:(by|without)\s*\(([^)]*)\))?$/s.exec(
      text,
    );
  const losses =
    by !== null && (by[3] ?? by[6] ?? '').trim() !== ''
      ? ['It has an alert for each group of labels there, and one for all here.']
      : [];
  const inner = unwrapped((by?.[4] ?? text).trim());
  const [, amount, unit = ''] = new RegExp(WINDOW).exec(inner) ?? [];
  if (amount !== undefined && (Number(amount) * (MINUTES[unit] ?? 1)) % 1 !== 0)
    losses.push('It looks back whole minutes here.');
  const rate = new RegExp(`^(rate|irate|increase)\\s*\\(\\s*(${SELECTOR})\\s*${WINDOW}\\s*\\)$`, 's').exec(inner);
  if (rate !== null) {
    const windowMinutes = minutesOf(rate[3], rate[4]);
    const scale = rate[1] === 'increase' ? 1 : windowMinutes * 60;
    if (by !== null && by[1] !== 'sum') return { because: `it takes the ${by[1]} of the rates of several series` };
    const more = by === null ? ['It has an alert for each series there, and one for their sum here.'] : losses;
    return { metricName: rate[2] ?? '', aggregation: 'sum', windowMinutes, scale, losses: more };
  }
  const over = new RegExp(`^(avg|sum|min|max|count)_over_time\\s*\\(\\s*(${SELECTOR})\\s*${WINDOW}\\s*\\)$`, 's').exec(
    inner,
  );
  if (over !== null && by !== null && (by[1] !== over[1] || over[1] === 'count'))
    return { because: `it takes the ${by[1]} of what several series had over a time` };
  if (over !== null)
    return {
      metricName: over[2] ?? '',
      aggregation: aggregationOf(over[1] ?? ''),
      windowMinutes: minutesOf(over[3], over[4]),
      scale: 1,
      losses,
    };
  if (!new RegExp(`^${SELECTOR}$`, 's').test(inner))
    return { because: 'what it measures is none that a rule measures' };
  const aggregation = by === null ? (isBelow ? 'min' : 'max') : aggregationOf(by[1] ?? '');
  if (aggregation === 'count') return { because: 'it counts series' };
  if (aggregation === 'sum') return { metricName: inner, aggregation: 'last', windowMinutes: 5, scale: 1, losses };
  return {
    metricName: inner,
    aggregation,
    windowMinutes: 1,
    scale: 1,
    ...(by === null && { isSingle: true }),
    losses: [...losses, ...(by === null ? ['It has an alert for each series there, and one for the worst here.'] : [])],
  };
}

function aggregationOf(name: string): MetricRule['aggregation'] {
  return name === 'sum' || name === 'min' || name === 'max' || name === 'count' ? name : 'avg';
}

function minutesOf(amount = '5', unit = 'm'): number {
  return Math.max(1, Math.round(Number(amount) * (MINUTES[unit] ?? 1)));
}

/** Reads a duration of Prometheus such as `1h30m` in minutes. */
export function durationMinutes(text: string): number {
  let minutes = 0;
  for (const [, amount, unit] of text.matchAll(/(?<!\d)(\d+)(ms|[smhdwy])/g))
    minutes += Number(amount) * ({ ms: 0, w: 10_080, y: 525_600, ...MINUTES }[unit ?? 'm'] ?? 0);
  return minutes;
}
