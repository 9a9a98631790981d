/** Part of a text, with its place in the whole. */
export interface TextPart {
  readonly text: string;
  /** Position of its first character. */
  readonly start: number;
}

/** Text of a metric expression, cut at its slashes and at its asterisk. */
export interface DividedText {
  /** Sides: one of a plain selector, two of a ratio; more are a fault that the reader names. */
  readonly sides: readonly TextPart[];
  /** Text behind the asterisk; null without one. */
  readonly factor: TextPart | null;
}

/**
 * Cuts the text of an expression. A slash divides with white space on both sides, or directly behind a closing brace, so
 * that one in a name (`http/requests`), in quotes or in a pattern does not. An asterisk begins the factor, behind a slash only.
 */
export function divideExpression(text: string): DividedText {
  const sides: TextPart[] = [];
  let factor: TextPart | null = null;
  let start = 0;
  const end = (at: number): void => {
    const part = partOf(text, start, at);
    if (factor === null) sides.push(part);
    else factor = part;
    start = at + 1;
  };
  for (const { at, sign } of dividersOf(text)) {
    if (sign === '*' && (sides.length === 0 || factor !== null)) continue;
    end(at);
    if (sign === '*') factor = partOf(text, start, start);
    else if (factor !== null) {
      // A slash behind the factor begins a third side.
      sides.push(partOf(text, start, text.length));
      return { sides, factor };
    }
  }
  if (sides.length === 0) return { sides: [{ text, start: 0 }], factor: null };
  end(text.length);
  return { sides, factor };
}

/** Returns the text of an expression with another selector on one of its sides. */
export function replaceSide(text: string, place: number, selector: string): string {
  const side = divideExpression(text).sides[place];
  if (side === undefined) return text;
  return `${text.slice(0, side.start)}${selector}${text.slice(side.start + side.text.length)}`;
}

function partOf(text: string, from: number, to: number): TextPart {
  const part = text.slice(from, to);
  return { text: part.trim(), start: from + part.length - part.trimStart().length };
}

interface Divider {
  readonly at: number;
  readonly sign: '/' | '*';
}

const QUOTES = new Set(['"', "'", '`']);

function* dividersOf(text: string): Generator<Divider> {
  let quote = '';
  let isInside = false;
  /** Whether only white space stands between here and the closing brace before. */
  let isClosed = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (quote !== '') {
      if (character === '\\' && quote !== '`') at += 1;
      else if (character === quote) quote = '';
    } else if (isInside) {
      if (QUOTES.has(character)) quote = character;
      else if (character === '}') [isInside, isClosed] = [false, true];
    } else if (character === '{') {
      [isInside, isClosed] = [true, false];
    } else if (character.trim() !== '') {
      const isApart = at > 0 && isBlank(text.charAt(at - 1)) && isBlank(text.charAt(at + 1));
      if ((character === '/' || character === '*') && (isClosed || isApart)) yield { at, sign: character };
      isClosed = false;
    }
  }
}

function isBlank(character: string): boolean {
  return character.trim() === '';
}

/** A value that was measured; null without data. */
interface Measured {
  readonly value: number | null;
  /** A quantile above the highest bound of a histogram: it is more than the value. */
  readonly isMoreThan?: boolean | undefined;
}

/**
 * Returns the ratio of two sides times the factor. Null without data on a side, and without traffic: where nothing is divided by,
 * the ratio is neither 0 nor infinite. Null also where the divisor is only known to be more than its value.
 */
export function ratioOf(numerator: Measured, denominator: Measured, factor: number): Measured {
  if (numerator.value === null || denominator.value === null || denominator.value === 0) return { value: null };
  const value = finite((numerator.value / denominator.value) * factor);
  if (denominator.isMoreThan === true) return { value: null };
  if (numerator.isMoreThan !== true) return { value };
  return denominator.value * factor > 0 ? { value, isMoreThan: true } : { value: null };
}

/** Returns the value of an expression from those of its sides: one for a plain selector, two for a ratio. */
export function expressionValue(sides: readonly Measured[], factor: number): Measured {
  const [dividend = { value: null }, divisor] = sides;
  return divisor === undefined ? dividend : ratioOf(dividend, divisor, factor);
}

/** Limits a value to the range of numbers, as sums are. */
function finite(value: number): number {
  if (Number.isNaN(value)) return 0;
  return Math.min(Math.max(value, -Number.MAX_VALUE), Number.MAX_VALUE);
}
