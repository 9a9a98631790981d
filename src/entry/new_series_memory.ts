import { setFlagsFromString } from 'node:v8';

import { collectInSteps } from '#entry/collect_in_steps.ts';
import { HEAP_GROWTH } from '#entry/memory.ts';

const LOOK_EVERY_MS = 2_000;
/** Of one look. Fewer pass without notice: half as many as one service may bring for long. */
const MANY = 5_000;
/** A service that starts with new labels has brought all of them before. */
const COLLECT_AFTER = 50_000;
/** Half a minute. */
const CALM_LOOKS = 15;

interface Process {
  /** Lets the heap grow by no more than so many percent before it is collected; from the next collection on. */
  limitGrowth(percent: number): void;
  limitGrowthAsUsual(): void;
  collect(): void;
}

/**
 * Keeps memory small while many series are new. Each leaves some hundred bytes of garbage that has become old while its
 * request waited to be stored, and a heap that may grow fourfold fills with it. To collect so often at all times would
 * make senders of exceptions wait.
 */
export class NewSeriesMemory {
  readonly #process: Process;
  #added = 0;
  /** Since growth is limited; null while it is not. */
  #sinceLimited: number | null = null;
  #calmLooks = 0;

  constructor(process: Process = thisHeap()) {
    this.#process = process;
  }

  /** To be called with how many series came that were not known. */
  add(series: number): void {
    this.#added += series;
  }

  /** To be called from time to time. */
  look(): void {
    const added = this.#added;
    this.#added = 0;
    this.#calmLooks = added >= MANY ? 0 : this.#calmLooks + 1;
    if (this.#sinceLimited === null) {
      if (added < MANY) return;
      this.#process.limitGrowth(HEAP_GROWTH.withNewSeries);
      this.#sinceLimited = 0;
    } else if (this.#calmLooks >= CALM_LOOKS) {
      this.#process.limitGrowthAsUsual();
      this.#sinceLimited = null;
      return;
    }
    const before = this.#sinceLimited;
    this.#sinceLimited = before + added;
    // What was allowed at the last collection would hold until the next.
    if (before < COLLECT_AFTER && this.#sinceLimited >= COLLECT_AFTER) this.#process.collect();
  }

  /** Looks for as long as this process lives. */
  watch(): void {
    setInterval(() => this.look(), LOOK_EVERY_MS).unref();
  }
}

function thisHeap(): Process {
  const limitGrowth = (percent: number) => setFlagsFromString(`--heap-growing-percent=${percent}`);
  return {
    limitGrowth,
    limitGrowthAsUsual: () => limitGrowth(HEAP_GROWTH.usual()),
    collect: collectInSteps,
  };
}
