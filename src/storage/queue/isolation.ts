type OnFree = () => void;

/**
 * Lets jobs over which a worker may have died run while no others run in this process. Were others running, they would be
 * blamed as well when one kills this worker, too. `onFree` is called once it is worth asking again; the same function stands
 * for the same runner.
 */
export class Isolation {
  #running = 0;
  #isApart = false;
  /** Caller that waits to run jobs apart. Meanwhile nobody else begins any; null when nobody waits. */
  #next: OnFree | null = null;
  readonly #blocked = new Set<OnFree>();

  /** Whether so many jobs may begin. `leave` has to be called for each. */
  enter(jobs: number, onFree: OnFree): boolean {
    if (this.#isApart || this.#isTaken(onFree)) return this.#block(onFree);
    this.#next = null;
    this.#running += jobs;
    return true;
  }

  /** Whether so many jobs may begin apart from all others. If not, no others begin before they may. */
  enterApart(jobs: number, onFree: OnFree): boolean {
    if (this.#running > 0 || this.#isTaken(onFree)) {
      this.#next ??= onFree;
      return this.#block(onFree);
    }
    this.#next = null;
    this.#running = jobs;
    this.#isApart = true;
    return true;
  }

  leave(jobs = 1): void {
    if (jobs === 0) return;
    this.#running -= jobs;
    if (this.#running > 0) return;
    this.#isApart = false;
    this.#tell();
  }

  /** There is nothing any more that has to run apart. */
  cancel(onFree: OnFree): void {
    this.#blocked.delete(onFree);
    if (this.#next !== onFree) return;
    this.#next = null;
    this.#tell();
  }

  #isTaken(onFree: OnFree): boolean {
    return this.#next !== null && this.#next !== onFree;
  }

  #block(onFree: OnFree): false {
    this.#blocked.add(onFree);
    return false;
  }

  #tell(): void {
    const blocked = [...this.#blocked];
    this.#blocked.clear();
    for (const onFree of blocked) onFree();
  }
}
