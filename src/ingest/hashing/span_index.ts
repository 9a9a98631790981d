import { HashTable } from '#ingest/hashing/hash_table.ts';
import { hashSpan } from '#ingest/hashing/keyed_hash.ts';

/** Numbers spans of bytes from 0 in the order in which they are added, and finds a span's number by its bytes. */
export class SpanIndex {
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  /** For each number, the one that `numberOf` gave after it the last time. */
  readonly #followers: number[] = [];
  #last = -1;
  readonly #table = new HashTable();
  #view: DataView;

  /** Of spans in the bytes of `view`. */
  constructor(view: DataView) {
    this.#view = view;
  }

  get size(): number {
    return this.#table.size;
  }

  /** The bytes have moved: a copy of the view, with the same spans in the same places. */
  move(view: DataView): void {
    this.#view = view;
  }

  /**
   * The span's number, which equal bytes share. In rare cases the same bytes get another number. Labels usually follow
   * each other as they did before, and comparing a span with the expected one is faster than hashing it.
   */
  numberOf(start: number, end: number): number {
    const expected = this.#followers[this.#last] ?? -1;
    if (expected !== -1 && this.matches(expected, this.#view, start, end)) return (this.#last = expected);
    const hash = hashSpan(this.#view, start, end);
    const known = this.find(hash, this.#view, start, end);
    const number = known === -1 ? this.add(hash, start, end) : known;
    if (this.#last !== -1) this.#followers[this.#last] = number;
    return (this.#last = number);
  }

  /** The number of a span with these bytes, which may be in another view; -1 for none. */
  find(hash: number, view: DataView, start: number, end: number): number {
    let number = this.#table.first(hash);
    while (number !== -1 && !this.matches(number, view, start, end)) number = this.#table.next(hash);
    return number;
  }

  add(hash: number, start: number, end: number): number {
    this.#starts.push(start);
    this.#ends.push(end);
    return this.#table.add(hash);
  }

  startOf(number: number): number {
    return this.#starts[number] ?? 0;
  }

  /** Whether the span has the bytes between `start` and `end` of `view`. */
  matches(number: number, view: DataView, start: number, end: number): boolean {
    const own = this.#starts[number] ?? 0;
    const length = end - start;
    return (this.#ends[number] ?? 0) - own === length && isSameSpan(this.#view, own, view, start, length);
  }
}

/** Whether `length` bytes are the same in both places. */
export function isSameSpan(a: DataView, aStart: number, b: DataView, bStart: number, length: number): boolean {
  if (length < 8) return isSameShort(a, aStart, b, bStart, length);
  const last = length - 8;
  for (let i = 0; i < last; i += 8) {
    if (a.getBigInt64(aStart + i, true) !== b.getBigInt64(bStart + i, true)) return false;
  }
  return a.getBigInt64(aStart + last, true) === b.getBigInt64(bStart + last, true);
}

function isSameShort(a: DataView, aStart: number, b: DataView, bStart: number, length: number): boolean {
  for (let i = 0; i < length; i += 1) if (a.getUint8(aStart + i) !== b.getUint8(bStart + i)) return false;
  return true;
}
