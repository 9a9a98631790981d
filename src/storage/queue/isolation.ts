type OnFree = () => void;

/**
 * Lets a job over which a worker may have died run while no other runs in this process. Were others running, they would be
 * blamed as well when it kills this worker, too. `onFree` is called once it is worth asking again; the same function stands
 * for the same runner.
 */
export class Isolation {
  #running = 0;
  #isAlone = false;
  /** Who waits to run a job alone. Meanwhile nobody else begins any. */
  #next: OnFree | null = null;
  readonly #blocked = new Set<OnFree>();

  /** Whether so many jobs may begin. `leave` has to be called for each. */
  enter(jobs: number, onFree: OnFree): boolean {
    if (this.#isAlone || this.#isTaken(onFree)) return this.#block(onFree);
    this.#next = null;
    this.#running += jobs;
    return true;
  }

  /** Whether one job may begin that has to be alone. If not, no other begins before it may. */
  enterAlone(onFree: OnFree): boolean {
    if (this.#running > 0 || this.#isTaken(onFree)) {
      this.#next ??= onFree;
      return this.#block(onFree);
    }
    this.#next = null;
    this.#running = 1;
    this.#isAlone = true;
    return true;
  }

  leave(jobs = 1): void {
    if (jobs === 0) return;
    this.#running -= jobs;
    if (this.#running > 0) return;
    this.#isAlone = false;
    this.#tell();
  }

  /** There is nothing any more that has to be alone. */
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
