/** Numbers texts in the order in which they are first met, so that each is written once. */
export class TextNumbers {
  readonly all: string[] = [];
  readonly #known = new Map<string, number>();
  #last = -1;

  of(text: string): number {
    // Texts mostly come in the order in which they came before, and to compare is less than to look up.
    const next = this.#last + 1;
    this.#last = this.all[next] === text ? next : this.#lookUp(text);
    return this.#last;
  }

  #lookUp(text: string): number {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const number = this.all.push(text) - 1;
    this.#known.set(text, number);
    return number;
  }
}
