/** Runs one write at a time: every so often, when somebody asks for it, and at the end. */
export class PeriodicWrite {
  readonly #work: () => Promise<void>;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | null = null;

  /** Starts a timer that runs `work`, which must never throw, every `everyMs` milliseconds. */
  constructor(work: () => Promise<void>, everyMs: number) {
    this.#work = work;
    this.#timer = setInterval(() => void this.write(), everyMs);
    this.#timer.unref();
  }

  /** Joins a write that is already running. */
  async write(): Promise<void> {
    this.#running ??= this.#work().finally(() => {
      this.#running = null;
    });
    await this.#running;
  }

  /** Writes the rest. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
    await this.write();
  }
}
