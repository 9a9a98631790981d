interface Entry<Value> {
  readonly value: Value;
  readonly weight: number;
  readonly until: number;
}

/** Keeps what was used last, up to a total weight, each for a time. */
export class WeightedCache<Value> {
  readonly #weightMax: number;
  /** Called with what makes room for others. */
  readonly #onRemoved: (value: Value) => void;
  readonly #entries = new Map<string, Entry<Value>>();
  #weight = 0;

  constructor(weightMax: number, onRemoved: (value: Value) => void = () => {}) {
    this.#weightMax = weightMax;
    this.#onRemoved = onRemoved;
  }

  /** Returns the cached value; undefined if there is none, or it has expired. */
  get(key: string, nowMs: number): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#remove(key, entry);
    if (entry.until <= nowMs) return undefined;
    this.#add(key, entry);
    return entry.value;
  }

  set(key: string, value: Value, { weight = 1, until }: { readonly weight?: number; readonly until: number }): void {
    const before = this.#entries.get(key);
    if (before !== undefined) this.#remove(key, before);
    this.#add(key, { value, weight, until });
    for (const [oldest, entry] of this.#entries) {
      if (this.#weight <= this.#weightMax || this.#entries.size === 1) return;
      this.#remove(oldest, entry);
      this.#onRemoved(entry.value);
    }
  }

  /** Removes what was used longest ago until this weight fits, before what weighs so much is made. */
  makeRoom(weight: number): void {
    for (const [oldest, entry] of this.#entries) {
      if (this.#weight + weight <= this.#weightMax) return;
      this.#remove(oldest, entry);
      this.#onRemoved(entry.value);
    }
  }

  #add(key: string, entry: Entry<Value>): void {
    this.#entries.set(key, entry);
    this.#weight += entry.weight;
  }

  #remove(key: string, entry: Entry<Value>): void {
    this.#entries.delete(key);
    this.#weight -= entry.weight;
  }
}
