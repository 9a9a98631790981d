type Wake<Name> = (name: Name) => void;

/** How long at least from one wake-up of a kind to the next. Each costs the queue as much as storing a job. */
const EVERY_MS = 100;

/** Wakes workers at once when little is going on, and every now and then when much is: each time they take all there is. */
export class WakeUps<Name> {
  readonly #wake: Wake<Name>;
  readonly #lastAt = new Map<Name, number>();
  readonly #waiting = new Map<Name, NodeJS.Timeout>();

  constructor(wake: Wake<Name>) {
    this.#wake = wake;
  }

  ask(name: Name): void {
    if (this.#waiting.has(name)) return;
    const sinceLastMs = performance.now() - (this.#lastAt.get(name) ?? -Infinity);
    if (sinceLastMs >= EVERY_MS) this.#wakeNow(name);
    else this.#waiting.set(name, setTimeout(() => this.#wakeNow(name), EVERY_MS - sinceLastMs).unref());
  }

  /** Nothing waits any longer. */
  settle(): void {
    for (const name of this.#waiting.keys()) this.#wakeNow(name);
  }

  #wakeNow(name: Name): void {
    clearTimeout(this.#waiting.get(name));
    this.#waiting.delete(name);
    this.#lastAt.set(name, performance.now());
    this.#wake(name);
  }
}
