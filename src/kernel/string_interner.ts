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
