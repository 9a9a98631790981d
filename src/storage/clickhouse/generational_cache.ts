/** What was not asked for during this time may be forgotten. */
const GENERATION_MS = 60_000;

/** Remembers what is asked for again and again, and forgets the rest after one to two minutes. */
export class GenerationalCache<Value> {
  #current = new Map<string, Value>();
  #before = new Map<string, Value>();
  #turnedAtMs = Number.NEGATIVE_INFINITY;

  /** To be called from time to time. */
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
