import { AppError } from '#kernel/errors.ts';

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
