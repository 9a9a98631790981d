/** Entries that were not read for this long may be evicted. */
const GENERATION_MS = 60_000;

/** Keeps entries that are read often, and evicts the others after one to two minutes. */
export class GenerationalCache<Value> {
  #current = new Map<string, Value>();
  #before = new Map<string, Value>();
  #turnedAtMs = Number.NEGATIVE_INFINITY;

  /** Starts a new generation when the current one is old enough. Callers call it from time to time. */
  turn(nowMs: number): void {
    if (nowMs - this.#turnedAtMs < GENERATION_MS) return;
    this.#turnedAtMs = nowMs;
    this.#before = this.#current;
    this.#current = new Map();
  }

  get(key: string): Value | undefined {
    const current = this.#current.get(key);
    if (current !== undefined) return current;
    const before = this.#before.get(key);
    if (before !== undefined) this.#current.set(key, before);
    return before;
  }

  set(key: string, value: Value): void {
    this.#current.set(key, value);
  }
}
