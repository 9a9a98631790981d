import type { Steps } from '#kernel/cooperative_task.ts';

/** Ends of the containers of at least `LARGE_BYTES`, by their starts, so that they can be skipped unread. */
export type LargeContainers = ReadonlyMap<number, number>;

export const LARGE_BYTES = 4 * 1024;
const LEVELS_MAX = 64;
const SPAN_BYTES = 64 * 1024;

/** Reason why bytes are not acceptable JSON. */
export type JsonFault = 'syntax' | 'depth';

const [QUOTE, COMMA, COLON, MINUS, DOT, ZERO] = [0x22, 0x2c, 0x3a, 0x2d, 0x2e, 0x30];
const [BRACE, BRACKET, BRACE_END, BRACKET_END] = [0x7b, 0x5b, 0x7d, 0x5d];
const NO_MORE = 0x100;

/** Classes of bytes within a string; all others stand for themselves. */
const [ENDS, ESCAPES, FORBIDDEN] = [1, 2, 3];
const IN_STRING = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === QUOTE) return ENDS;
  if (byte === 0x5c) return ESCAPES;
  return byte < 0x20 ? FORBIDDEN : 0;
});
/** Number of hexadecimal digits after the letter of an escape, plus one; 0 for a letter that is no escape. */
const ESCAPE_LENGTH = new Uint8Array(256);
for (const letter of Buffer.from('"\\/bfnrt')) ESCAPE_LENGTH[letter] = 1;
ESCAPE_LENGTH[0x75] = 5;
const IS_HEX = new Uint8Array(256);
for (const digit of Buffer.from('0123456789abcdefABCDEF')) IS_HEX[digit] = 1;

/** States of the check: what has to come next. */
const EXPECTED = { value: 0, firstValue: 1, firstName: 2, name: 3, afterValue: 4 } as const;
type Expected = (typeof EXPECTED)[keyof typeof EXPECTED];

/**
 * Checks in one pass, without building a value, that bytes are what `JSON.parse` reads, in steps of 64 KiB. The values are
 * then read in place (`JsonCursor`). They are known to be UTF-8.
 */
export class JsonCheck {
  readonly #bytes: Buffer;
  readonly #large = new Map<number, number>();
  readonly #starts = new Int32Array(LEVELS_MAX);
  readonly #areObjects = new Uint8Array(LEVELS_MAX);
  #at = 0;
  #end: number;
  #level = 0;
  #expected: Expected = EXPECTED.value;
  fault: JsonFault | null = null;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#end = bytes.length;
  }

  get large(): LargeContainers {
    return this.#large;
  }

  /** Whether all of it is sound; if not, `fault` says why. */
  *inSteps(): Steps<boolean> {
    while (!this.#advance(this.#at + SPAN_BYTES)) yield;
    return this.fault === null;
  }

  /** Whether the bytes from `start` up to, but not including, `end` are; at once, so they are few. */
  isSound(start: number, end: number): boolean {
    this.#at = start;
    this.#end = end;
    this.#level = 0;
    this.#expected = EXPECTED.value;
    this.fault = null;
    this.#advance(Infinity);
    return this.fault === null;
  }

  /** Reads on, at least to `until`; true when it is over. */
  #advance(until: number): boolean {
    while (this.#at < until) {
      let byte = this.#skipBlanks();
      if (this.#expected === EXPECTED.afterValue) {
        if (this.#level === 0) return byte === NO_MORE || this.#fail('syntax');
        const isObject = this.#areObjects[this.#level - 1] === 1;
        this.#at += 1;
        if (byte === COMMA) {
          this.#expected = isObject ? EXPECTED.name : EXPECTED.value;
          continue;
        }
        if (byte !== (isObject ? BRACE_END : BRACKET_END)) return this.#fail('syntax');
        this.#close();
        continue;
      }
      if (byte === NO_MORE) return this.#fail('syntax');
      if (this.#expected === EXPECTED.firstName && byte === BRACE_END) {
        this.#at += 1;
        this.#close();
        continue;
      }
      if (this.#expected >= EXPECTED.firstName) {
        if (byte !== QUOTE || !this.#passString()) return this.#fail('syntax');
        if (this.#skipBlanks() !== COLON) return this.#fail('syntax');
        this.#at += 1;
        byte = this.#skipBlanks();
      } else if (this.#expected === EXPECTED.firstValue && byte === BRACKET_END) {
        this.#at += 1;
        this.#close();
        continue;
      }
      if (byte === BRACE || byte === BRACKET) {
        if (this.#level === LEVELS_MAX) return this.#fail('depth');
        this.#starts[this.#level] = this.#at;
        this.#areObjects[this.#level] = byte === BRACE ? 1 : 0;
        this.#level += 1;
        this.#at += 1;
        this.#expected = byte === BRACE ? EXPECTED.firstName : EXPECTED.firstValue;
        continue;
      }
      if (!(byte === QUOTE ? this.#passString() : this.#passWord(byte))) return this.#fail('syntax');
      this.#expected = EXPECTED.afterValue;
    }
    return false;
  }

  #fail(fault: JsonFault): true {
    this.fault = fault;
    return true;
  }

  #close(): void {
    this.#level -= 1;
    const start = this.#starts[this.#level] ?? 0;
    if (this.#at - start >= LARGE_BYTES) this.#large.set(start, this.#at);
    this.#expected = EXPECTED.afterValue;
  }

  /** The byte after blanks, where it stands then. */
  #skipBlanks(): number {
    const bytes = this.#bytes;
    const length = this.#end;
    let at = this.#at;
    while (at < length) {
      const byte = bytes[at] ?? 0;
      if (byte > 0x20 || (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)) {
        this.#at = at;
        return byte;
      }
      at += 1;
    }
    this.#at = at;
    return NO_MORE;
  }

  #passString(): boolean {
    const bytes = this.#bytes;
    const length = this.#end;
    let at = this.#at + 1;
    while (at < length) {
      const meaning = IN_STRING[bytes[at] ?? 0];
      at += 1;
      if (meaning === 0) continue;
      if (meaning === ENDS) {
        this.#at = at;
        return true;
      }
      if (meaning === FORBIDDEN || at >= length) return false;
      const follow = ESCAPE_LENGTH[bytes[at] ?? 0] ?? 0;
      if (follow === 0 || at + follow >= length) return false;
      for (let digit = 1; digit < follow; digit += 1) if (IS_HEX[bytes[at + digit] ?? 0] === 0) return false;
      at += follow;
    }
    return false;
  }

  /** A number, true, false or null. */
  #passWord(first: number): boolean {
    if (first === MINUS || (first >= ZERO && first <= 0x39)) return this.#passNumber();
    for (const word of WORDS) {
      if (word[0] !== first) continue;
      const end = this.#at + word.length;
      if (end > this.#end) return false;
      for (let i = 1; i < word.length; i += 1) if (this.#bytes[this.#at + i] !== word[i]) return false;
      this.#at = end;
      return true;
    }
    return false;
  }

  #passNumber(): boolean {
    const bytes = this.#bytes;
    if (bytes[this.#at] === MINUS) this.#at += 1;
    if (bytes[this.#at] === ZERO) this.#at += 1;
    else if (!this.#passDigits()) return false;
    if (this.#at < this.#end && bytes[this.#at] === DOT) {
      this.#at += 1;
      if (!this.#passDigits()) return false;
    }
    if (this.#at >= this.#end || ((bytes[this.#at] ?? 0) | 0x20) !== 0x65) return true;
    this.#at += 1;
    if (bytes[this.#at] === 0x2b || bytes[this.#at] === MINUS) this.#at += 1;
    return this.#passDigits();
  }

  /** Skips digits; returns whether there was at least one. */
  #passDigits(): boolean {
    const bytes = this.#bytes;
    const length = this.#end;
    const start = this.#at;
    let at = start;
    while (at < length) {
      const byte = bytes[at] ?? 0;
      if (byte < ZERO || byte > 0x39) break;
      at += 1;
    }
    this.#at = at;
    return at > start;
  }
}

const WORDS = ['true', 'false', 'null'].map((word) => Buffer.from(word));
