import { isUtf8 } from 'node:buffer';

import type { Label } from '#ingest/admission/labels.ts';
import type { PointAdmission } from '#ingest/admission/point_admission.ts';
import { LARGE_BYTES, type LargeContainers } from '#ingest/protocols/body/json_check.ts';
import { AppError } from '#kernel/errors.ts';

/** A longer text is made sooner by Node. */
const SHORT_BYTES_MAX = 12;
const code = String.fromCharCode;

/** The text of bytes below 0x80. Asking Node for a short one takes longer than everything else that is done with it. */
export function asciiText(bytes: Buffer, start: number, end: number): string {
  const length = end - start;
  if (length > SHORT_BYTES_MAX) return bytes.toString('latin1', start, end);
  if (length > 8) return fourAt(bytes, start) + fourAt(bytes, start + 4) + upToFour(bytes, start + 8, length - 8);
  return length > 4 ? fourAt(bytes, start) + upToFour(bytes, start + 4, length - 4) : upToFour(bytes, start, length);
}

function fourAt(bytes: Buffer, at: number): string {
  return code(bytes[at] ?? 0, bytes[at + 1] ?? 0, bytes[at + 2] ?? 0, bytes[at + 3] ?? 0);
}

function upToFour(bytes: Buffer, at: number, length: number): string {
  if (length === 4) return fourAt(bytes, at);
  if (length === 3) return code(bytes[at] ?? 0, bytes[at + 1] ?? 0, bytes[at + 2] ?? 0);
  if (length === 2) return code(bytes[at] ?? 0, bytes[at + 1] ?? 0);
  return length === 1 ? code(bytes[at] ?? 0) : '';
}

/** Throws `invalid_input` unless the body is UTF-8: replacement characters would make different texts equal. */
export function checkUtf8(body: Buffer): void {
  if (!isUtf8(body)) throw new AppError('invalid_input', 'the body is not UTF-8');
}

/** The labels of one request, so that each is checked and hashed only once. */
export class LabelCache {
  readonly #admission: PointAdmission;
  readonly #byName = new Map<string, Map<string, Label>>();

  constructor(admission: PointAdmission) {
    this.#admission = admission;
  }

  of(name: string, value: string): Label {
    let byValue = this.#byName.get(name);
    if (byValue === undefined) this.#byName.set(name, (byValue = new Map<string, Label>()));
    let label = byValue.get(value);
    if (label === undefined) byValue.set(value, (label = this.#admission.label(name, value)));
    return label;
  }
}

const [QUOTE, BACKSLASH, COMMA, MINUS, DOT, ZERO] = [0x22, 0x5c, 0x2c, 0x2d, 0x2e, 0x30];
const [BRACE, BRACKET, BRACE_END, BRACKET_END] = [0x7b, 0x5b, 0x7d, 0x5d];
/**
 * Limit on the digits that are read exactly: whole numbers of so many digits, and powers of ten up to this, are exact,
 * so one division of two of them is rounded once.
 */
const DIGITS_MAX = 15;
const SHOWN_BYTES_MAX = 400;
const ESCAPED_NAME_BYTES_MAX = 200;
const ESCAPED_NAMES_MAX = 1_000;
const POWERS = Float64Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));

/** Kind of a value, in the words of refusals. */
type JsonKind = 'an object' | 'a list' | 'a string' | 'a number' | 'a boolean' | 'null';

/**
 * Reads JSON in place that `JsonCheck` has found to be sound: no value is built that nobody asks for. `pos` stands at a
 * value, or behind one.
 *
 * Read an object with `cursor.begin(); while (cursor.nextName()) …`, a list with `cursor.begin(); while (cursor.nextElement()) …`;
 * within the loop each value must be read or skipped.
 */
export class JsonCursor {
  readonly bytes: Buffer;
  readonly view: DataView;
  readonly #large: LargeContainers;
  pos = 0;
  /** The text read last, without its quotes. */
  textStart = 0;
  textEnd = 0;
  #hasEscape = false;
  #escapedNames = 0;

  constructor(bytes: Buffer, large: LargeContainers) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#large = large;
  }

  skipBlanks(): number {
    let byte = this.bytes[this.pos] ?? 0;
    while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
      this.pos += 1;
      byte = this.bytes[this.pos] ?? 0;
    }
    return byte;
  }

  get isObject(): boolean {
    return this.bytes[this.pos] === BRACE;
  }

  get isList(): boolean {
    return this.bytes[this.pos] === BRACKET;
  }

  /** Whether the object or list at the cursor is empty, as empty ones are usually written. */
  get isEmpty(): boolean {
    const byte = this.bytes[this.pos + 1];
    return byte === BRACE_END || byte === BRACKET_END;
  }

  get isText(): boolean {
    return this.bytes[this.pos] === QUOTE;
  }

  get isNull(): boolean {
    return this.bytes[this.pos] === 0x6e;
  }

  get isNumber(): boolean {
    const byte = this.bytes[this.pos] ?? 0;
    return byte === MINUS || (byte >= ZERO && byte <= 0x39);
  }

  kind(): JsonKind {
    if (this.isObject) return 'an object';
    if (this.isList) return 'a list';
    if (this.isText) return 'a string';
    if (this.isNull) return 'null';
    return this.isNumber ? 'a number' : 'a boolean';
  }

  /** Steps into an object or a list. */
  begin(): void {
    this.pos += 1;
  }

  /** Reads the next name of an object and stands at its value; false behind the object's end. */
  nextName(): boolean {
    let byte = this.skipBlanks();
    if (byte === COMMA) {
      this.pos += 1;
      byte = this.skipBlanks();
    }
    if (byte === BRACE_END) {
      this.pos += 1;
      return false;
    }
    this.readText();
    this.skipBlanks();
    this.pos += 1;
    this.skipBlanks();
    return true;
  }

  /** Moves to the next element of a list; false after the list's end. */
  nextElement(): boolean {
    let byte = this.skipBlanks();
    if (byte === COMMA) {
      this.pos += 1;
      byte = this.skipBlanks();
    }
    if (byte !== BRACKET_END) return true;
    this.pos += 1;
    return false;
  }

  /** Reads a text without decoding it. */
  readText(): void {
    const { bytes } = this;
    const { length } = bytes;
    let at = this.pos + 1;
    this.textStart = at;
    this.#hasEscape = false;
    while (at < length) {
      const byte = bytes[at];
      if (byte === QUOTE) break;
      if (byte === BACKSLASH) {
        this.#hasEscape = true;
        at += 1;
      }
      at += 1;
    }
    this.textEnd = at;
    this.pos = at + 1;
  }

  /** Length of the text read last, in characters if it is ASCII. */
  get textLength(): number {
    return this.#isEscapedName() ? this.text().length : this.textEnd - this.textStart;
  }

  /**
   * Whether a name has escapes. No sender writes such names, and decoding takes long, so only the first ones are
   * checked.
   */
  #isEscapedName(): boolean {
    if (!this.#hasEscape || this.textEnd - this.textStart > ESCAPED_NAME_BYTES_MAX) return false;
    this.#escapedNames += 1;
    return this.#escapedNames <= ESCAPED_NAMES_MAX;
  }

  /** Whether the text read last is this one, which is ASCII. */
  isTextOf(text: string): boolean {
    if (this.#hasEscape) return this.#isEscapedName() && this.text() === text;
    const { bytes, textStart } = this;
    if (this.textEnd - textStart !== text.length) return false;
    for (let i = 0; i < text.length; i += 1) if (bytes[textStart + i] !== text.charCodeAt(i)) return false;
    return true;
  }

  /** The text read last. */
  text(): string {
    const { bytes, textStart, textEnd } = this;
    if (this.#hasEscape) return String(JSON.parse(bytes.toString('utf8', textStart - 1, textEnd + 1)));
    for (let i = textStart; i < textEnd; i += 1) {
      if ((bytes[i] ?? 0) >= 0x80) return bytes.toString('utf8', textStart, textEnd);
    }
    return asciiText(bytes, textStart, textEnd);
  }

  /** Returns the text shortened for a refusal, which has little room. */
  shownText(): string {
    const isShort = this.textEnd - this.textStart <= SHOWN_BYTES_MAX;
    return isShort ? this.text() : `${this.bytes.toString('utf8', this.textStart, this.textStart + SHOWN_BYTES_MAX)}…`;
  }

  /** Bytes of the object or list at the cursor if it is a large one; else 0. */
  get largeBytes(): number {
    return (this.#large.get(this.pos) ?? this.pos) - this.pos;
  }

  number(): number {
    const { bytes } = this;
    let at = this.pos;
    let byte = bytes[at] ?? 0;
    const isNegative = byte === MINUS;
    if (isNegative) byte = bytes[(at += 1)] ?? 0;
    let mantissa = 0;
    const digitsStart = at;
    while (byte >= ZERO && byte <= 0x39) {
      mantissa = mantissa * 10 + byte - ZERO;
      byte = bytes[(at += 1)] ?? 0;
    }
    let digits = at - digitsStart;
    let decimals = 0;
    if (byte === DOT) {
      byte = bytes[(at += 1)] ?? 0;
      const decimalsStart = at;
      while (byte >= ZERO && byte <= 0x39) {
        mantissa = mantissa * 10 + byte - ZERO;
        byte = bytes[(at += 1)] ?? 0;
      }
      decimals = at - decimalsStart;
      digits += decimals;
    }
    if (digits > DIGITS_MAX || (byte | 0x20) === 0x65) return this.#longNumber();
    this.pos = at;
    const value = decimals === 0 ? mantissa : mantissa / (POWERS[decimals] ?? 1);
    return isNegative ? -value : value;
  }

  #longNumber(): number {
    const start = this.pos;
    this.#skipWord();
    return Number(this.bytes.toString('latin1', start, this.pos));
  }

  flag(): boolean {
    const isTrue = this.bytes[this.pos] === 0x74;
    this.#skipWord();
    return isTrue;
  }

  /** Passes a value, whatever it is. */
  skip(): void {
    const byte = this.bytes[this.pos];
    if (byte === QUOTE) this.readText();
    else if (byte === BRACE || byte === BRACKET) {
      const start = this.pos;
      this.pos += 1;
      this.#skipRest(start);
    } else this.#skipWord();
  }

  /** Passes what is left of the object or list that begins at `start`. */
  skipRest(start: number): void {
    const end = this.#large.get(start);
    if (end === undefined) this.#skipRest(start);
    else this.pos = end;
  }

  #skipRest(start: number): void {
    const { bytes } = this;
    const limit = Math.min(bytes.length, start + LARGE_BYTES);
    let level = 1;
    let at = this.pos;
    for (; at < limit; at += 1) {
      const byte = bytes[at];
      if (byte === QUOTE) {
        at += 1;
        while (at < limit && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
      } else if (byte === BRACE || byte === BRACKET) level += 1;
      else if (byte === BRACE_END || byte === BRACKET_END) {
        level -= 1;
        if (level > 0) continue;
        this.pos = at + 1;
        return;
      }
    }
    this.pos = this.#large.get(start) ?? at;
  }

  #skipWord(): void {
    const { bytes } = this;
    const { length } = bytes;
    let at = this.pos;
    while (at < length) {
      const byte = bytes[at] ?? 0;
      if (byte === COMMA || byte === BRACE_END || byte === BRACKET_END || byte <= 0x20) break;
      at += 1;
    }
    this.pos = at;
  }
}

/** Cost of reading a label or an attribute: the time that this many bytes of a body take. */
export const LABEL_BYTES = 60;
