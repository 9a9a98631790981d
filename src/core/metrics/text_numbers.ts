/** Numbers texts in the order in which they are first met, so that each is written once. */
export class TextNumbers {
  readonly all: string[] = [];
  readonly #known = new Map<string, number>();

  of(text: string): number {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const number = this.all.push(text) - 1;
    this.#known.set(text, number);
    return number;
  }
}
