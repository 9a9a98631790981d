import { selectorText } from '#modules/metrics/decide/selector_text.ts';
import { type MetricSelector, type PatternCheck, readSelector } from '#modules/metrics/decide/read_selector.ts';
import { AppError } from '#kernel/errors.ts';
import { divideExpression, type TextPart } from '#modules/metrics/decide/ratio.ts';

/** Expression that a rule, a query or a chart measures: the series of one selector, or the ratio of two. */
export interface MetricExpression {
  /** One selector, or the two sides of a ratio. */
  readonly sides: readonly [MetricSelector] | readonly [MetricSelector, MetricSelector];
  /** Text of each side. */
  readonly texts: readonly string[];
  /** Factor by which a ratio is multiplied; 1 without one. */
  readonly factor: number;
}

const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;
/** A factor before the first side, as PromQL has it. */
const LEADING_FACTOR = /^[-+]?[\d.]+\s*\*\s/;

/**
 * Reads a selector or a ratio of two, `errors_total{code=~"5.."} / requests_total * 100`. Patterns are taken as they are unless
 * `checkPattern` checks them. Throws `invalid_input` in a sentence that says at which character.
 */
export function readExpression(text: string, checkPattern?: PatternCheck): MetricExpression {
  const { sides: parts, factor } = divideExpression(text);
  const [left, right, third] = parts;
  if (left === undefined || right === undefined)
    return { sides: [readSelector(text, checkPattern)], texts: [text], factor: 1 };
  if (third !== undefined) throw fault('a ratio has two sides, and a third one begins', third);
  if (LEADING_FACTOR.test(left.text)) throw fault('the factor stands at the end, as in a / b * 100', left);
  const sides = [readSide(left, checkPattern), readSide(right, checkPattern)] as const;
  return { sides, texts: [left.text, right.text], factor: factor === null ? 1 : readFactor(factor) };
}

/** Returns the text of an expression whose sides also demand a value of a label. */
export function withLabel(text: string, label: string, value: string): string {
  const { sides, factor } = readExpression(text);
  const narrowed = sides.map(({ name, matchers }) =>
    selectorText(name, [...matchers, { label, operator: '=', value }]),
  );
  return factor === 1 ? narrowed.join(' / ') : `${narrowed.join(' / ')} * ${factor}`;
}

function readSide({ text, start }: TextPart, checkPattern: PatternCheck | undefined): MetricSelector {
  if (text === '') throw fault('a metric name is required on both sides of the /', { start });
  return readSelector(text, checkPattern, start);
}

function readFactor(part: TextPart): number {
  const factor = NUMBER.test(part.text) ? Number(part.text) : Number.NaN;
  if (!Number.isFinite(factor) || factor === 0) {
    throw fault('the factor behind the * is a finite number other than 0', part);
  }
  return factor;
}

function fault(message: string, { start }: Pick<TextPart, 'start'>): AppError {
  return new AppError('invalid_input', `${message}, at character ${start + 1}`);
}
