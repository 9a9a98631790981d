import type { Steps } from '#ingest/protocols/body/steps.ts';
import { endOfString } from '#kernel/json_survey.ts';

/** So much is given to the engine's own parser at a time. */
const SPAN_BYTES = 32 * 1024;
/** Of an object that is longer than a span: none of any protocol has more. */
const NAMES_MAX = 10_000;
const LEVELS_MAX = 64;
const REST_AFTER = 256;
/** Twice as many as the largest body of 100,000 points has. */
export const JSON_VALUES_MAX = 1_500_000;

/** JSON that no sender of data writes, whatever it holds; `message` is for the sender. */
export class UnreasonableJson extends Error {}

const [QUOTE, COMMA, COLON] = [0x22, 0x2c, 0x3a];
const [BRACE, BRACKET, BRACE_END, BRACKET_END] = [0x7b, 0x5b, 0x7d, 0x5d];

/**
 * What `JSON.parse` says, in steps, of at most `valuesMax` values. Throws `SyntaxError` for what is no JSON and
 * `UnreasonableJson` for what is out of all bounds.
 */
export function* parseInSteps(bytes: Buffer, valuesMax: number): Steps<unknown> {
  if (bytes.length <= SPAN_BYTES) return JSON.parse(bytes.toString('utf8')) as unknown;
  return yield* new StepParser(bytes, valuesMax).parse();
}

class StepParser {
  readonly #bytes: Buffer;
  readonly #valuesMax: number;
  #at = 0;
  #values = 0;

  constructor(bytes: Buffer, valuesMax: number) {
    this.#bytes = bytes;
    this.#valuesMax = valuesMax;
  }

  *parse(): Steps<unknown> {
    const hasMark = this.#bytes[0] === 0xef;
    if (hasMark) throw new SyntaxError('a byte order mark');
    this.#skipWhitespace();
    const value = yield* this.#value(0);
    this.#skipWhitespace();
    if (this.#at < this.#bytes.length) throw new SyntaxError('more than one value');
    return value;
  }

  *#value(level: number): Steps<unknown> {
    if (level > LEVELS_MAX) throw new UnreasonableJson(`nested deeper than ${LEVELS_MAX} levels`);
    const start = this.#at;
    const byte = this.#bytes[start];
    if (byte !== BRACE && byte !== BRACKET) {
      this.#passScalar();
      return this.#parsed(start, this.#at);
    }
    const end = this.#spanEnd(start + 1);
    if (end !== -1) {
      this.#at = end;
      return this.#parsed(start, end);
    }
    return byte === BRACE ? yield* this.#object(level) : yield* this.#list(level);
  }

  /** Elements by the span, and one that is longer by itself. */
  *#list(level: number): Steps<unknown[]> {
    const list: unknown[] = [];
    this.#at += 1;
    for (;;) {
      const start = this.#at;
      const { end, isLast } = this.#elementsEnd(start);
      if (end !== -1) {
        const elements = this.#parsedList(start, end);
        if (elements.length === 0 && (!isLast || list.length > 0)) throw new SyntaxError('an element is missing');
        for (const element of elements) list.push(element);
        this.#at = end + 1;
        if (isLast) return list;
      } else {
        this.#skipWhitespace();
        list.push(yield* this.#value(level + 1));
        this.#skipWhitespace();
        const byte = this.#bytes[this.#at];
        this.#at += 1;
        if (byte === BRACKET_END) return list;
        if (byte !== COMMA) throw new SyntaxError('a list is not closed');
      }
      yield;
    }
  }

  *#object(level: number): Steps<Readonly<Record<string, unknown>>> {
    const entries: [string, unknown][] = [];
    for (;;) {
      this.#at += 1;
      this.#skipWhitespace();
      const start = this.#at;
      if (this.#bytes[start] !== QUOTE) throw new SyntaxError('a name is missing');
      this.#at = endOfString(this.#bytes, start) + 1;
      const name = this.#parsed(start, this.#at);
      this.#skipWhitespace();
      if (this.#bytes[this.#at] !== COLON) throw new SyntaxError('a colon is missing');
      this.#at += 1;
      this.#skipWhitespace();
      entries.push([String(name), yield* this.#value(level + 1)]);
      if (entries.length > NAMES_MAX) throw new UnreasonableJson(`an object with more than ${NAMES_MAX} names`);
      this.#skipWhitespace();
      const byte = this.#bytes[this.#at];
      if (entries.length % REST_AFTER === 0) yield;
      if (byte === COMMA) continue;
      if (byte !== BRACE_END) throw new SyntaxError('an object is not closed');
      this.#at += 1;
      return Object.fromEntries(entries);
    }
  }

  /** Where the elements end that begin here and fill a span: at a comma, or at the end of the list. -1 for a longer one. */
  #elementsEnd(start: number): { readonly end: number; readonly isLast: boolean } {
    const bytes = this.#bytes;
    const limit = Math.min(bytes.length, start + SPAN_BYTES);
    let level = 0;
    let comma = -1;
    let values = 0;
    for (let at = start; at < limit; at += 1) {
      const byte = bytes[at];
      if (byte === QUOTE) at = endOfString(bytes, at);
      else if (byte === BRACE || byte === BRACKET) {
        level += 1;
        values += 1;
      } else if (byte === BRACE_END || byte === BRACKET_END) {
        if (level === 0) {
          this.#count(values);
          return { end: at, isLast: true };
        }
        level -= 1;
      } else if (byte === COMMA) {
        values += 1;
        if (level === 0) comma = at;
      }
    }
    if (comma !== -1) this.#count(values);
    return { end: comma, isLast: false };
  }

  /** Behind the end of the container that this is in; -1 where it is longer than a span. */
  #spanEnd(start: number): number {
    const bytes = this.#bytes;
    const limit = Math.min(bytes.length, start + SPAN_BYTES);
    let level = 1;
    let values = 1;
    for (let at = start; at < limit; at += 1) {
      const byte = bytes[at];
      if (byte === QUOTE) at = endOfString(bytes, at);
      else if (byte === BRACE || byte === BRACKET) {
        level += 1;
        values += 1;
      } else if (byte === COMMA) values += 1;
      else if (byte === BRACE_END || byte === BRACKET_END) {
        level -= 1;
        if (level > 0) continue;
        this.#count(values);
        return at + 1;
      }
    }
    return -1;
  }

  #count(values: number): void {
    this.#values += values;
    if (this.#values > this.#valuesMax) throw new UnreasonableJson(`more than ${this.#valuesMax} values`);
  }

  #passScalar(): void {
    const bytes = this.#bytes;
    const start = this.#at;
    if (bytes[start] === QUOTE) {
      this.#at = endOfString(bytes, start) + 1;
      return;
    }
    for (; this.#at < bytes.length; this.#at += 1) {
      const byte = bytes[this.#at];
      if (byte === COMMA || byte === BRACE_END || byte === BRACKET_END || isWhitespace(byte)) return;
    }
  }

  #skipWhitespace(): void {
    while (isWhitespace(this.#bytes[this.#at])) this.#at += 1;
  }

  #parsed(start: number, end: number): unknown {
    return JSON.parse(this.#bytes.toString('utf8', start, end)) as unknown;
  }

  #parsedList(start: number, end: number): readonly unknown[] {
    return JSON.parse(`[${this.#bytes.toString('utf8', start, end)}]`) as readonly unknown[];
  }
}

function isWhitespace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
