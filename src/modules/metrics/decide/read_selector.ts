import { AppError } from '#kernel/errors.ts';

const MATCH_OPERATORS = ['=~', '!~', '!=', '='] as const;
export type MatchOperator = (typeof MATCH_OPERATORS)[number];

/** Condition on a label. A series without the label has the empty text as its value, as in PromQL. */
export interface LabelMatcher {
  readonly label: string;
  readonly operator: MatchOperator;
  /** The text to compare with, or a pattern in RE2's syntax that the whole value has to match. */
  readonly value: string;
}

/** Selector of a service's series: those of the name whose labels meet every matcher. */
export interface MetricSelector {
  readonly name: string;
  readonly matchers: readonly LabelMatcher[];
}

const TEXT_LENGTH_MAX = 16_384;
const MATCHERS_MAX = 64;

/** Throws the fault of a pattern that stands at `start`. */
export type PatternCheck = (pattern: string, scanner: SelectorScanner, start: number) => void;

/**
 * Reads a selector. Patterns are taken as they are unless `checkPattern` checks them: `parseSelector` asks whether RE2
 * takes them, which the console leaves to the server. Throws `invalid_input` in a sentence; `offset` is the place of the
 * selector in the text that it is a side of.
 */
export function readSelector(text: string, checkPattern: PatternCheck = () => {}, offset = 0): MetricSelector {
  if (text.length > TEXT_LENGTH_MAX) throw fault(`a selector has at most ${TEXT_LENGTH_MAX} characters`);
  if (!text.isWellFormed()) throw fault('half of a surrogate pair is not valid text');
  if (text.trim() === '') throw fault('a metric name is required');
  const brace = text.indexOf('{');
  if (brace === -1) return { name: text, matchers: [] };
  return readBraces(text.slice(0, brace).trim(), new SelectorScanner(text, brace + 1, offset), checkPattern);
}

function readBraces(nameBefore: string, scanner: SelectorScanner, checkPattern: PatternCheck): MetricSelector {
  let name = nameBefore;
  const matchers: LabelMatcher[] = [];
  while (!scanner.take('}')) {
    const start = scanner.position;
    const isQuoted = scanner.isAtQuote();
    const label = isQuoted ? scanner.readQuoted() : scanner.readWord();
    const operator = MATCH_OPERATORS.find((candidate) => scanner.take(candidate));
    if (operator !== undefined) matchers.push(readMatcher(scanner, { label, operator, start }, checkPattern));
    else if (isQuoted && name === '' && matchers.length === 0) name = label;
    else throw scanner.fault('one of = != =~ !~ is expected after the label');
    if (matchers.length > MATCHERS_MAX) throw scanner.fault(`more than ${MATCHERS_MAX} matchers`);
    if (!scanner.take(',') && !scanner.isAt('}')) throw scanner.fault('a comma or } is expected');
  }
  if (!scanner.isAtEnd()) throw scanner.fault('nothing may follow the }');
  if (name.trim() === '') throw fault('a metric name is required before the {');
  return { name, matchers };
}

function readMatcher(
  scanner: SelectorScanner,
  { label, operator, start }: { readonly label: string; readonly operator: MatchOperator; readonly start: number },
  checkPattern: PatternCheck,
): LabelMatcher {
  if (label === '') throw scanner.fault('a label name is expected', start);
  if (label === '__name__') throw scanner.fault('the metric name stands before the {, not as __name__', start);
  if (!scanner.isAtQuote()) throw scanner.fault(`a quoted text is expected after ${operator}`);
  const valueStart = scanner.position;
  const value = scanner.readQuoted();
  if (operator === '=~' || operator === '!~') checkPattern(value, scanner, valueStart);
  return { label, operator, value };
}

function fault(message: string): AppError {
  return new AppError('invalid_input', message);
}

const WORD_END = /[\s=!~,{}"'`]/;
const SINGLE_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['a', '\u0007'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ['\\', '\\'],
  ['"', '"'],
  ["'", "'"],
]);
/** Number of hexadecimal digits after each letter of an escape. */
const NUMBER_ESCAPES: ReadonlyMap<string, number> = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
]);

/** Reads the inside of a selector token by token. White space between the tokens does not count. */
export class SelectorScanner {
  readonly #text: string;
  readonly #offset: number;
  #at: number;

  /** Begins at `start` of a text that stands at `offset` of a longer one: faults say the place there. */
  constructor(text: string, start: number, offset = 0) {
    this.#text = text;
    this.#at = start;
    this.#offset = offset;
  }

  /** Position of the next token. */
  get position(): number {
    while (/\s/.test(this.#text.charAt(this.#at))) this.#at += 1;
    return this.#at;
  }

  isAt(piece: string): boolean {
    return this.#text.startsWith(piece, this.position);
  }

  isAtEnd(): boolean {
    return this.position >= this.#text.length;
  }

  isAtQuote(): boolean {
    return this.isAt('"') || this.isAt("'") || this.isAt('`');
  }

  take(piece: string): boolean {
    const isMet = this.isAt(piece);
    if (isMet) this.#at += piece.length;
    return isMet;
  }

  /** Reads a label name as it stands; empty if there is none. */
  readWord(): string {
    const start = this.position;
    while (this.#at < this.#text.length && !WORD_END.test(this.#text.charAt(this.#at))) this.#at += 1;
    if (this.#at >= this.#text.length) throw this.fault('the } is missing');
    return this.#text.slice(start, this.#at);
  }

  /** Reads a text in double or single quotes with escapes, or in backticks without. */
  readQuoted(): string {
    const start = this.position;
    const quote = this.#text.charAt(start);
    let text = '';
    this.#at += 1;
    for (;;) {
      const character = this.#text.charAt(this.#at);
      if (character === '') throw this.fault('the closing quote is missing', start);
      this.#at += 1;
      if (character === quote) return text;
      if (quote !== '`' && character === '\n') throw this.fault('a line break in a quoted text is written \\n', start);
      text += quote !== '`' && character === '\\' ? this.#readEscape() : character;
    }
  }

  /** Returns the error for the piece at `at`, counted from 1 as people do. */
  fault(message: string, at = this.position): AppError {
    return new AppError('invalid_input', `${message}, at character ${this.#offset + at + 1}`);
  }

  #readEscape(): string {
    const start = this.#at - 1;
    const letter = this.#text.charAt(this.#at);
    const single = SINGLE_ESCAPES.get(letter);
    if (single !== undefined) {
      this.#at += 1;
      return single;
    }
    const digits = NUMBER_ESCAPES.get(letter);
    if (digits !== undefined) return this.#readCode(this.#at + 1, digits, 16, start);
    if (/[0-7]/.test(letter)) return this.#readCode(this.#at, 3, 8, start);
    throw this.fault('an escape that PromQL does not know', start);
  }

  #readCode(from: number, digits: number, base: 8 | 16, start: number): string {
    const written = this.#text.slice(from, from + digits);
    const isNumber = written.length === digits && (base === 8 ? /^[0-7]+$/ : /^[0-9a-fA-F]+$/).test(written);
    const code = isNumber ? Number.parseInt(written, base) : Number.NaN;
    const isByte = digits < 4;
    if (isByte && code > 0x7f) throw this.fault('a byte beyond ASCII is written as \\u and its code point', start);
    if (!(code <= 0x10ffff) || (code >= 0xd800 && code <= 0xdfff))
      throw this.fault('an escape that is not a character', start);
    this.#at = from + digits;
    return String.fromCodePoint(code);
  }
}
