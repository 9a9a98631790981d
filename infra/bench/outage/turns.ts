/** Waiting items by organization: each organization takes turns, in the order of the stores' `listDue`. */
export class Turns<Item> {
  readonly #lines = new Map<number, Item[]>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get organizations(): number {
    return this.#lines.size;
  }

  add(organization: number, item: Item): void {
    const line = this.#lines.get(organization);
    if (line === undefined) this.#lines.set(organization, [item]);
    else line.push(item);
    this.#length += 1;
  }

  /** The first of each organization, then the second of each, up to so many. */
  take(count: number): Item[] {
    const taken: Item[] = [];
    while (taken.length < count && this.#length > 0) {
      for (const [organization, line] of this.#lines) {
        if (taken.length >= count) return taken;
        const item = line.shift();
        if (item !== undefined) {
          taken.push(item);
          this.#length -= 1;
        }
        // The organization that had its turn goes behind the others.
        this.#lines.delete(organization);
        if (line.length > 0) this.#lines.set(organization, line);
      }
    }
    return taken;
  }
}
