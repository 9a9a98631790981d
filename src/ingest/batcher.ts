/** Size of an item within a batch. */
export interface Weight {
  readonly bytes: number;
  readonly count: number;
}

interface BatcherOptions<Item> {
  /** Time that the first item of a batch waits for others when there is little load. */
  readonly lingerMs: number;
  /** The minimum time between the starts of two commits, unless a batch is full; asked for each. */
  readonly everyMs: number | (() => number);
  /** Count below which a batch lets the next commit follow proportionally sooner, down to `everyMsMin`. */
  readonly busyFrom?: number;
  /** The minimum time between the starts of two commits, however small they are; 0 by default. */
  readonly everyMsMin?: number;
  /** Idle time after which a batch no longer waits for further items. */
  readonly quietMs?: number;
  /** The maximum of one batch; a single item may be larger. */
  readonly max: Weight;
  /** Maximum number of items in a batch, however little they weigh. */
  readonly itemsMax: number;
  /** Commits that run at the same time. */
  readonly commitsMax: number;
  readonly weigh: (item: Item) => Weight;
  readonly commit: (items: readonly Item[]) => Promise<void>;
}

interface Waiting<Item> {
  readonly item: Item;
  readonly weight: Weight;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Commits items that arrive within a few milliseconds as one batch; each caller waits for the commit of its item. */
export class Batcher<Item> {
  readonly #options: BatcherOptions<Item>;
  #waiting: Waiting<Item>[] = [];
  #bytes = 0;
  #count = 0;
  #commits = 0;
  /** The waiting items have lingered long enough. */
  #isDue = false;
  #timer: NodeJS.Timeout | undefined;
  #quietTimer: NodeJS.Timeout | undefined;
  #lastAddedAt = -Infinity;
  #lastCommitAt = -Infinity;
  #lastCount = 0;
  #whenIdle: (() => void)[] = [];

  constructor(options: BatcherOptions<Item>) {
    this.#options = options;
  }

  /** Resolves once the item is committed, and rejects with what its commit threw. */
  add(item: Item): Promise<void> {
    const weight = this.#options.weigh(item);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ item, weight, resolve, reject });
    this.#bytes += weight.bytes;
    this.#count += weight.count;
    this.#lastAddedAt = performance.now();
    if (this.#waiting.length === 1) this.#setTimers();
    this.#commitWhatIsReady();
    return promise;
  }

  /** Commits without lingering and resolves once everything added so far is settled. */
  async drain(): Promise<void> {
    this.#commitAll();
    if (this.#commits > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  #setTimers(): void {
    const { lingerMs, everyMsMin = 0, busyFrom = 0, quietMs = Infinity } = this.#options;
    const everyMs = typeof this.#options.everyMs === 'number' ? this.#options.everyMs : this.#options.everyMs();
    const apartMs = this.#lastCount < busyFrom ? Math.max(everyMsMin, (everyMs * this.#lastCount) / busyFrom) : everyMs;
    const sinceLastMs = performance.now() - this.#lastCommitAt;
    clearTimeout(this.#timer);
    const waitMs = Math.max(lingerMs, apartMs - sinceLastMs);
    this.#timer = setTimeout(() => this.#commitAll(), waitMs);
    clearTimeout(this.#quietTimer);
    if (quietMs < waitMs) this.#quietTimer = setTimeout(() => this.#lookWhetherQuiet(quietMs), quietMs);
  }

  #lookWhetherQuiet(quietMs: number): void {
    const leftMs = quietMs - (performance.now() - this.#lastAddedAt);
    if (leftMs <= 0) this.#commitAll();
    else this.#quietTimer = setTimeout(() => this.#lookWhetherQuiet(quietMs), leftMs);
  }

  #commitAll(): void {
    this.#isDue = this.#waiting.length > 0;
    this.#commitWhatIsReady();
  }

  #commitWhatIsReady(): void {
    while (this.#waiting.length > 0 && this.#commits < this.#options.commitsMax && this.#isReady()) {
      void this.#commit(this.#take());
    }
    if (this.#waiting.length > 0) return;
    this.#isDue = false;
    clearTimeout(this.#timer);
    clearTimeout(this.#quietTimer);
  }

  #isReady(): boolean {
    const { max, itemsMax } = this.#options;
    return this.#isDue || this.#bytes >= max.bytes || this.#count >= max.count || this.#waiting.length >= itemsMax;
  }

  /** The oldest items that fit together, at least one. */
  #take(): readonly Waiting<Item>[] {
    const { max } = this.#options;
    let bytes = 0;
    let count = 0;
    const end = this.#waiting.findIndex(({ weight }, index) => {
      bytes += weight.bytes;
      count += weight.count;
      return index > 0 && (bytes > max.bytes || count > max.count);
    });
    const taken = this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
    for (const { weight } of taken) {
      this.#bytes -= weight.bytes;
      this.#count -= weight.count;
    }
    return taken;
  }

  async #commit(taken: readonly Waiting<Item>[]): Promise<void> {
    this.#commits += 1;
    this.#lastCommitAt = performance.now();
    this.#lastCount = taken.reduce((sum, { weight }) => sum + weight.count, 0);
    try {
      await this.#options.commit(taken.map(({ item }) => item));
      for (const { resolve } of taken) resolve();
    } catch (error) {
      for (const { reject } of taken) reject(error);
    }
    this.#commits -= 1;
    this.#commitWhatIsReady();
    if (this.#commits === 0) for (const resolve of this.#whenIdle.splice(0)) resolve();
  }
}
