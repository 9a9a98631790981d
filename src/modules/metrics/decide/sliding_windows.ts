import type { Aggregation } from '#modules/metrics/decide/aggregation.ts';

/** Aggregate of points that a window counts. Slots are whole numbers, such as minutes since 1970. */
export interface WindowPart {
  /** First slot of the windows' ends in which it counts … */
  readonly from: number;
  /** … and before this one. */
  readonly until: number;
  /** Number of samples, or for `last` of series; 0 for growth of samples that another part has counted. */
  readonly count: number;
  /** Sum of the samples, or for `min` and `max` the least and the greatest. */
  readonly value: number;
}

/** Windows that end at each slot from `first` to `last`. */
interface Slots {
  readonly first: number;
  readonly last: number;
}

/** Returns the value of each window, as a rule compares it; null without data. `parts` are in the order of `from`. */
export function slideWindow(
  parts: readonly WindowPart[],
  aggregation: Aggregation,
  { first, last }: Slots,
): (number | null)[] {
  const window = aggregation === 'min' || aggregation === 'max' ? new Extreme(aggregation) : new Total(parts);
  const values: (number | null)[] = [];
  let next = 0;
  for (let slot = first; slot <= last; slot += 1) {
    for (let part = parts[next]; part !== undefined && part.from <= slot; part = parts[next]) {
      if (part.until > part.from) window.add(part);
      next += 1;
    }
    window.removeUntil(slot);
    values.push(window.value(aggregation));
  }
  return values;
}

/** Adds up what the window holds. Sums carry what rounding has left (Neumaier), so an empty window has none. */
class Total {
  readonly #leaving: readonly WindowPart[];
  #left = 0;
  #parts = 0;
  #count = 0;
  #sum = 0;
  #rest = 0;

  constructor(parts: readonly WindowPart[]) {
    this.#leaving = parts.filter(({ from, until }) => until > from).sort((a, b) => a.until - b.until);
  }

  add({ count, value }: WindowPart): void {
    this.#parts += 1;
    this.#count += count;
    this.#addUp(value);
  }

  removeUntil(slot: number): void {
    const before = this.#left;
    for (
      let part = this.#leaving[this.#left];
      part !== undefined && part.until <= slot;
      part = this.#leaving[this.#left]
    ) {
      this.#left += 1;
      this.#parts -= 1;
      this.#count -= part.count;
      this.#addUp(-part.value);
    }
    if (this.#left === before) return;
    if (this.#parts === 0) [this.#sum, this.#rest] = [0, 0];
    else if (!Number.isFinite(this.#total())) this.#startAgain(slot);
  }

  value(aggregation: Aggregation): number | null {
    if (this.#count === 0) return null;
    if (aggregation === 'count') return this.#count;
    const sum = finite(this.#total());
    return aggregation === 'avg' ? sum / this.#count : sum;
  }

  #total(): number {
    return Number.isFinite(this.#rest) ? this.#sum + this.#rest : this.#sum;
  }

  #addUp(value: number): void {
    const sum = this.#sum + value;
    this.#rest += Math.abs(this.#sum) >= Math.abs(value) ? this.#sum - sum + value : value - sum + this.#sum;
    this.#sum = sum;
  }

  /** Adds up anew what is still there: a sum beyond the range of numbers cannot be taken back. */
  #startAgain(slot: number): void {
    [this.#sum, this.#rest] = [0, 0];
    for (const { from, value } of this.#leaving.slice(this.#left)) if (from <= slot) this.#addUp(value);
  }
}

/** Finds the least or the greatest value of the window: only parts that no later one outdoes are kept. */
class Extreme {
  readonly #isBetter: (a: number, b: number) => boolean;
  #kept: WindowPart[] = [];
  #start = 0;

  constructor(aggregation: 'min' | 'max') {
    this.#isBetter = aggregation === 'min' ? (a, b) => a <= b : (a, b) => a >= b;
  }

  add(part: WindowPart): void {
    for (
      let last = this.#kept.at(-1);
      last !== undefined && this.#kept.length > this.#start;
      last = this.#kept.at(-1)
    ) {
      if (!this.#isBetter(part.value, last.value)) break;
      this.#kept.pop();
    }
    this.#kept.push(part);
  }

  removeUntil(slot: number): void {
    while ((this.#kept[this.#start]?.until ?? Infinity) <= slot) this.#start += 1;
  }

  value(): number | null {
    return this.#kept[this.#start]?.value ?? null;
  }
}

/** Limits a sum to the range of numbers, as in the evaluation of rules. */
function finite(value: number): number {
  if (Number.isNaN(value)) return 0;
  return Math.min(Math.max(value, -Number.MAX_VALUE), Number.MAX_VALUE);
}
