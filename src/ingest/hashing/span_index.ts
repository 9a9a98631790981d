import { HashTable } from '#ingest/hashing/hash_table.ts';
import { hashSpan } from '#ingest/hashing/keyed_hash.ts';
import { freeBytes } from '#kernel/free_bytes.ts';

const FIELDS = 3;
const [END, FOLLOWER] = [1, 2];
const CAPACITY_FIRST = 16;
const EMPTY = new Int32Array(0);

/** Numbers spans of bytes from 0 in the order in which they are added, and finds a span's number by its bytes. */
export class SpanIndex {
  /** Start and end of the span of each number, and the number that `numberOf` returned after it the last time. */
  #spans = EMPTY;
  #last = -1;
  readonly #table = new HashTable();
  #view: DataView;

  /** Creates an index of spans in the bytes of `view`. */
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
    const expected = this.#last === -1 ? -1 : (this.#spans[this.#last * FIELDS + FOLLOWER] ?? -1);
    if (expected !== -1 && this.matches(expected, this.#view, start, end)) return (this.#last = expected);
    const hash = hashSpan(this.#view, start, end);
    const index = this.find(hash, this.#view, start, end);
    const number = index === -1 ? this.add(hash, start, end) : index;
    if (this.#last !== -1) this.#spans[this.#last * FIELDS + FOLLOWER] = number;
    return (this.#last = number);
  }

  /** The number of a span with these bytes, which may be in another view; -1 for none. */
  find(hash: number, view: DataView, start: number, end: number): number {
    let number = this.#table.first(hash);
    while (number !== -1 && !this.matches(number, view, start, end)) number = this.#table.next(hash);
    return number;
  }

  add(hash: number, start: number, end: number): number {
    const at = this.#table.size * FIELDS;
    if (at === this.#spans.length) this.#grow();
    this.#spans[at] = start;
    this.#spans[at + END] = end;
    this.#spans[at + FOLLOWER] = -1;
    return this.#table.add(hash);
  }

  startOf(number: number): number {
    return this.#spans[number * FIELDS] ?? 0;
  }

  /** Whether the span has the bytes between `start` and `end` of `view`. */
  matches(number: number, view: DataView, start: number, end: number): boolean {
    const length = this.#spans[number * FIELDS] ?? 0;
    const ownEnd = this.#spans[number * FIELDS + END] ?? 0;
    return ownEnd - length === end - start && isSameSpan(this.#view, length, view, start, end - start);
  }

  #grow(): void {
    const before = this.#spans;
    this.#spans = new Int32Array(Math.max(CAPACITY_FIRST * FIELDS, before.length * 2));
    this.#spans.set(before);
    freeBytes(before);
  }
}

/**
 * Whether `length` bytes are the same in both places: 6 ns for 24 bytes, of which `Buffer.compare` makes 65, and a loop
 * over bytes 33.
 */
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
