import type { Aggregation } from '#core/metrics/aggregation.ts';

/** Points of which a window knows no more than these figures. Slots are whole numbers, such as minutes since 1970. */
export interface WindowPart {
  /** It counts in the windows that end at this slot or later … */
  readonly from: number;
  /** … and before this one. */
  readonly until: number;
  /** How many samples, or for `last` how many series; 0 for growth of samples that another part has counted. */
  readonly count: number;
  /** Their sum, or for `min` and `max` the least and the greatest. */
  readonly value: number;
}

/** Windows that end at each slot from `first` to `last`. */
interface Slots {
  readonly first: number;
  readonly last: number;
}

/** The value of each window, as a rule compares it; null without data. `parts` are in the order of `from`. */
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

/** Adds up what the window holds. Sums carry what rounding has left (Neumaier), so nothing is left when all has gone. */
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

  /** A sum beyond the range of numbers cannot be taken back: adds up anew what is still there. */
  #startAgain(slot: number): void {
    [this.#sum, this.#rest] = [0, 0];
    for (const { from, value } of this.#leaving.slice(this.#left)) if (from <= slot) this.#addUp(value);
  }
}

/** The least or the greatest of what the window holds: only what no later part outdoes is kept. */
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

/** Sums beyond the range of numbers are the largest of them, as in the evaluation of rules. */
function finite(value: number): number {
  if (Number.isNaN(value)) return 0;
  return Math.min(Math.max(value, -Number.MAX_VALUE), Number.MAX_VALUE);
}
