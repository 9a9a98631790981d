/** Numbers strings in the order in which they are first seen, so that each needs to be written only once. */
export class StringInterner {
  readonly strings: string[] = [];
  readonly #numbers = new Map<string, number>();

  /** Returns the string's position in `strings`. */
  intern(text: string): number {
    const assigned = this.#numbers.get(text);
    if (assigned !== undefined) return assigned;
    const number = this.strings.push(text) - 1;
    this.#numbers.set(text, number);
    return number;
  }
}

const KNOWN_MAX = 4_096;
const KNOWN_LENGTH_MAX = 256;

/** The latest few thousand texts that were looked at and left as they are. */
export class KnownTexts {
  #texts = new Set<string>();
  #before = new Set<string>();

  has(text: string): boolean {
    if (text.length > KNOWN_LENGTH_MAX) return false;
    if (this.#texts.has(text)) return true;
    if (!this.#before.has(text)) return false;
    this.#add(text);
    return true;
  }

  /** Returns the result, and knows the text from then on if it is the same. */
  addIfSame(text: string, result: string): string {
    if (result === text && text.length <= KNOWN_LENGTH_MAX) this.#add(text);
    return result;
  }

  /** Adds a copy: V8 keeps the whole of a long text for as long as a part that was cut from it is held. */
  #add(text: string): void {
    if (this.#texts.size >= KNOWN_MAX) {
      this.#before = this.#texts;
      this.#texts = new Set();
    }
    this.#texts.add(Buffer.from(text, 'utf16le').toString('utf16le'));
  }
}
