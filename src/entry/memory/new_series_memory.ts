import { setFlagsFromString } from 'node:v8';

import { collectInSteps } from '#entry/collect_in_steps.ts';
import { HEAP_GROWTH } from '#entry/memory/memory.ts';

const LOOK_EVERY_MS = 2_000;
/**
 * New series in one check from which they count as many: half of what one service may bring for long. Fewer have no
 * noticeable effect.
 */
const MANY = 5_000;
/**
 * Number of new series from which growth is limited: a service that starts with new labels has brought all of them
 * before, and leaves 20 MB of garbage at most.
 */
const LIMIT_AFTER = 50_000;
/** Minimum number of points of known series for each time that one of them brings its labels. */
const KNOWN_POINTS = 5;
/** Number of checks without many new series after which growth is no longer limited: half a minute. */
const CALM_LOOKS = 15;

interface Process {
  /** Limits the growth of the heap before it is collected to `percent`; from the next collection on. */
  limitGrowth(percent: number): void;
  limitGrowthAsUsual(): void;
  collect(): void;
}

/**
 * Keeps memory small while many series are new. Each leaves some hundred bytes of garbage that has become old while its
 * request waited to be stored, and a heap that may grow fourfold fills with it. Collecting so often at all times would
 * make senders of exceptions wait.
 */
export class NewSeriesMemory {
  readonly #process: Process;
  #added = 0;
  #points = 0;
  /** New series since the last calm half a minute, one in which hardly any came. */
  #sinceCalm = 0;
  #calmLooks = CALM_LOOKS;
  #isLimited = false;

  constructor(process: Process = thisHeap()) {
    this.#process = process;
  }

  /**
   * Counts new series. A caller that knows only how many series came with their labels passes the number of points,
   * too: known series bring their labels every five minutes, with one in five of the points of each minute.
   */
  add(series: number, points = 0): void {
    this.#added += series;
    this.#points += points;
    // Before the next check 100 MB may arrive. Known series may send all labels at once, so with points it waits.
    if (points === 0 && this.#sinceCalm + this.#new() >= LIMIT_AFTER) this.#limit();
  }

  /** Limits the growth of the heap, or lifts the limit. Call it periodically. */
  look(): void {
    const added = this.#new();
    this.#added = 0;
    this.#points = 0;
    this.#calmLooks = added >= MANY ? 0 : this.#calmLooks + 1;
    if (this.#calmLooks < CALM_LOOKS) {
      this.#sinceCalm += added;
      if (this.#sinceCalm >= LIMIT_AFTER) this.#limit();
      return;
    }
    this.#sinceCalm = 0;
    if (this.#isLimited) this.#process.limitGrowthAsUsual();
    this.#isLimited = false;
  }

  #limit(): void {
    if (this.#isLimited) return;
    this.#isLimited = true;
    this.#process.limitGrowth(HEAP_GROWTH.withNewSeries);
    // The growth allowed at the last collection would apply until the next one.
    this.#process.collect();
  }

  /** Returns the approximate number of new series since the last check. */
  #new(): number {
    return Math.max(0, this.#added - this.#points / KNOWN_POINTS);
  }

  /** Checks periodically for as long as this process lives. */
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
