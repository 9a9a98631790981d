type Wake<Name> = (name: Name) => void;

/** The shortest time between two wake-ups of one name. Each costs the queue as much as a job. */
const INTERVAL_MS = 100;

/** Wakes workers at once when there is little to do, and at intervals when there is much: each time they take all there is. */
export class WakeUpCoalescer<Name> {
  readonly #wake: Wake<Name>;
  readonly #lastAt = new Map<Name, number>();
  readonly #waiting = new Map<Name, NodeJS.Timeout>();

  constructor(wake: Wake<Name>) {
    this.#wake = wake;
  }

  request(name: Name): void {
    if (this.#waiting.has(name)) return;
    const sinceLastMs = performance.now() - (this.#lastAt.get(name) ?? -Infinity);
    if (sinceLastMs >= INTERVAL_MS) this.#wakeNow(name);
    else this.#waiting.set(name, setTimeout(() => this.#wakeNow(name), INTERVAL_MS - sinceLastMs).unref());
  }

  /** Wakes at once for every request that waits. */
  flush(): void {
    for (const name of this.#waiting.keys()) this.#wakeNow(name);
  }

  #wakeNow(name: Name): void {
    clearTimeout(this.#waiting.get(name));
    this.#waiting.delete(name);
    this.#lastAt.set(name, performance.now());
    this.#wake(name);
  }
}
