/** The newest entries of one kind by key, oldest first. Beyond `keep` the oldest are dropped, so that memory is bounded. */
export class Journal<T> {
  readonly #entries = new Map<string, T>();
  readonly #keep: number;

  constructor(keep: number) {
    this.#keep = keep;
  }

  add(key: string, entry: T): void {
    this.#entries.set(key, entry);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#keep) return;
      this.#entries.delete(oldest);
    }
  }

  get(key: string): T | undefined {
    return this.#entries.get(key);
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  all(): T[] {
    return [...this.#entries.values()];
  }

  newestFirst(): T[] {
    return this.all().reverse();
  }

  clear(): void {
    this.#entries.clear();
  }
}
