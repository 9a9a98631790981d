interface GateOptions {
  /** Work that runs at the same time, of all owners together and of one. */
  readonly places: number;
  readonly placesOfOne: number;
}

interface Waiting {
  readonly owner: string;
  readonly enter: () => void;
}

/**
 * Lets a few pieces of work run at the same time; the others wait, in the order in which they came. An owner whose
 * work takes long holds up others' only for as many places as one may have.
 */
export class Gate {
  readonly #options: GateOptions;
  /** How many run, by owner. */
  readonly #running = new Map<string, number>();
  #free: number;
  readonly #waiting: Waiting[] = [];

  constructor(options: GateOptions) {
    this.#options = options;
    this.#free = options.places;
  }

  async run<Result>(owner: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#mayEnter(owner)) this.#count(owner, 1);
    else await new Promise<void>((enter) => this.#waiting.push({ owner, enter }));
    try {
      return await work();
    } finally {
      this.#count(owner, -1);
      this.#admitNext();
    }
  }

  #admitNext(): void {
    const index = this.#waiting.findIndex(({ owner }) => this.#mayEnter(owner));
    const [next] = index === -1 ? [] : this.#waiting.splice(index, 1);
    if (next === undefined) return;
    this.#count(next.owner, 1);
    next.enter();
  }

  #mayEnter(owner: string): boolean {
    return this.#free > 0 && (this.#running.get(owner) ?? 0) < this.#options.placesOfOne;
  }

  #count(owner: string, change: 1 | -1): void {
    this.#free -= change;
    const running = (this.#running.get(owner) ?? 0) + change;
    if (running > 0) this.#running.set(owner, running);
    else this.#running.delete(owner);
  }
}
