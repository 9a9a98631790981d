/** Numbers strings in the order in which they are first seen, so that each needs to be written only once. */
export class StringInterner {
  readonly strings: string[] = [];
  readonly #numbers = new Map<string, number>();
  #last = -1;

  /** The string's position in `strings`. */
  intern(text: string): number {
    // Strings usually come in the same order as before, and a comparison is cheaper than a look-up.
    const next = this.#last + 1;
    this.#last = this.strings[next] === text ? next : this.#lookUp(text);
    return this.#last;
  }

  #lookUp(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.strings.push(text) - 1;
    this.#numbers.set(text, number);
    return number;
  }
}
