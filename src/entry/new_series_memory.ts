import { setFlagsFromString } from 'node:v8';

import { collectInSteps } from '#entry/collect_in_steps.ts';
import { HEAP_GROWTH } from '#entry/memory.ts';

const LOOK_EVERY_MS = 2_000;
/** Of one look. Fewer pass without notice: half as many as one service may bring for long. */
const MANY = 5_000;
/** A service that starts with new labels has brought all of them before, and leaves 20 MB of garbage at most. */
const LIMIT_AFTER = 50_000;
/** So many points of known series, at least, come for each time that one of them brings its labels. */
const KNOWN_POINTS = 5;
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
  #points = 0;
  /** Since the last half a minute in which hardly any came. */
  #sinceCalm = 0;
  #calmLooks = CALM_LOOKS;
  #isLimited = false;

  constructor(process: Process = thisHeap()) {
    this.#process = process;
  }

  /**
   * To be called with how many new series came. A caller that knows only how many came with their labels says with how
   * many points, too: known series bring their labels every five minutes, with one in five of the points of each minute.
   */
  add(series: number, points = 0): void {
    this.#added += series;
    this.#points += points;
    // Until the next look a hundred megabytes may come. Labels of known series may come all at once, so with points it waits.
    if (points === 0 && this.#sinceCalm + this.#new() >= LIMIT_AFTER) this.#limit();
  }

  /** To be called from time to time. */
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
    // What was allowed at the last collection would hold until the next.
    this.#process.collect();
  }

  /** Since the last look, about. */
  #new(): number {
    return Math.max(0, this.#added - this.#points / KNOWN_POINTS);
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
