import type { Labels, Series } from '#modules/metrics/decide/point.ts';
import { freeBytes } from '#kernel/free_bytes.ts';
import type { Id } from '#kernel/ids.ts';

/**
 * Points on their way to the store, in columns: row `i` belongs to the metric `names[name[i]]` and the series `key[i]`.
 * Most points travel without labels: the store finds those by the series' key once the series was announced.
 */
export interface PointColumns {
  readonly length: number;
  readonly names: readonly string[];
  readonly key: BigUint64Array;
  readonly value: Float64Array;
  /** Time in epoch milliseconds. */
  readonly at: Float64Array;
  readonly name: Uint32Array;
  /** The position in `POINT_KINDS`. */
  readonly kind: Uint8Array;
  readonly announced: AnnouncedTable;
}

export interface ServicePoints {
  readonly serviceId: Id<'service'>;
  readonly points: PointColumns;
}

/** A series with its labels, which the store saves under the series' key. */
export interface AnnouncedSeries {
  readonly name: string;
  readonly key: bigint;
  readonly labels: Labels;
  /** The time of its newest point in this batch; 0 when there are only stale markers. */
  readonly newestAt: number;
}

/**
 * Columns of announced series. Names are positions in the texts; so are labels: names and values in turn, the series
 * one after the other.
 */
export interface AnnouncedColumns {
  readonly keys: BigUint64Array;
  readonly newest: Float64Array;
  readonly names: Uint32Array;
  /** Number of label texts of each series. */
  readonly labelCounts: Uint32Array;
  readonly labels: Uint32Array;
}

/** Announced series in columns: all of a body's may be new, and an object for each would take longer than all else. */
export class AnnouncedTable implements Iterable<AnnouncedSeries> {
  readonly texts: readonly string[];
  readonly columns: AnnouncedColumns;

  constructor(texts: readonly string[], columns: AnnouncedColumns) {
    this.texts = texts;
    this.columns = columns;
  }

  static of(series: Iterable<AnnouncedSeries>): AnnouncedTable {
    const builder = new AnnouncedBuilder();
    for (const entry of series) builder.add(entry, entry.newestAt);
    return builder.table();
  }

  get length(): number {
    return this.columns.keys.length;
  }

  /** Cuts the series into consecutive parts of these lengths; views, not copies. */
  parts(lengths: readonly number[]): AnnouncedTable[] {
    const { keys, newest, names, labelCounts, labels } = this.columns;
    let [from, label] = [0, 0];
    return lengths.map((length) => {
      const [to, firstLabel] = [from + length, label];
      for (const count of labelCounts.subarray(from, to)) label += count;
      const columns = {
        keys: keys.subarray(from, to),
        newest: newest.subarray(from, to),
        names: names.subarray(from, to),
        labelCounts: labelCounts.subarray(from, to),
        labels: labels.subarray(firstLabel, label),
      };
      from = to;
      return new AnnouncedTable(this.texts, columns);
    });
  }

  *[Symbol.iterator](): Generator<AnnouncedSeries> {
    const { keys, newest, names, labelCounts, labels } = this.columns;
    const textOf = (position: number | undefined): string => this.texts[position ?? 0] ?? '';
    let label = 0;
    for (let i = 0; i < this.length; i += 1) {
      const end = label + (labelCounts[i] ?? 0);
      const texts = [...labels.subarray(label, end)].map(textOf);
      yield { name: textOf(names[i]), key: keys[i] ?? 0n, labels: texts, newestAt: newest[i] ?? 0 };
      label = end;
    }
  }
}

const CAPACITY_FIRST = 64;

/** Collects announced series. */
export class AnnouncedBuilder {
  length = 0;
  readonly #texts = new Texts();
  #labelsLength = 0;
  #keys = new BigUint64Array(CAPACITY_FIRST);
  #newest = new Float64Array(CAPACITY_FIRST);
  #names = new Uint32Array(CAPACITY_FIRST);
  #labelCounts = new Uint32Array(CAPACITY_FIRST);
  #labels = new Uint32Array(CAPACITY_FIRST);

  add({ name, key, labels }: Series, newestAt: number): void {
    const place = this.length;
    if (place === this.#keys.length) this.#grow();
    while (this.#labelsLength + labels.length > this.#labels.length) this.#growLabels();
    this.#keys[place] = key;
    this.#newest[place] = newestAt;
    this.#names[place] = this.#texts.numberOf(name, 0);
    this.#labelCounts[place] = labels.length;
    for (let i = 0; i < labels.length; i += 1) {
      this.#labels[this.#labelsLength + i] = this.#texts.numberOf(labels[i] ?? '', i + 1);
    }
    this.#labelsLength += labels.length;
    this.length = place + 1;
  }

  table(): AnnouncedTable {
    return new AnnouncedTable(this.#texts.texts, {
      keys: this.#keys.subarray(0, this.length),
      newest: this.#newest.subarray(0, this.length),
      names: this.#names.subarray(0, this.length),
      labelCounts: this.#labelCounts.subarray(0, this.length),
      labels: this.#labels.subarray(0, this.#labelsLength),
    });
  }

  #grow(): void {
    const [keys, newest, names, labelCounts] = [this.#keys, this.#newest, this.#names, this.#labelCounts];
    const capacity = keys.length * 4;
    this.#keys = new BigUint64Array(capacity);
    this.#newest = new Float64Array(capacity);
    this.#names = new Uint32Array(capacity);
    this.#labelCounts = new Uint32Array(capacity);
    this.#keys.set(keys);
    this.#newest.set(newest);
    this.#names.set(names);
    this.#labelCounts.set(labelCounts);
    for (const column of [keys, newest, names, labelCounts]) freeBytes(column);
  }

  #growLabels(): void {
    const labels = this.#labels;
    this.#labels = new Uint32Array(labels.length * 4);
    this.#labels.set(labels);
    freeBytes(labels);
  }
}

/** Excess of new texts over known ones up to which texts are looked up. */
const NEW_MORE_MAX = 1_000;

/**
 * Numbers texts. Consecutive series share most of theirs, at the same positions. If nearly all are new, as in a body
 * that was made for it, others are no longer looked up: a text that is stored twice costs less.
 */
class Texts {
  readonly texts: string[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #lastTexts: string[] = [];
  readonly #lastNumbers: number[] = [];
  #newMore = 0;

  /** Returns the number of a text; `place` is its position in its series. */
  numberOf(text: string, place: number): number {
    if (text === this.#lastTexts[place]) return this.#lastNumbers[place] ?? 0;
    const number = this.#newMore > NEW_MORE_MAX ? this.texts.push(text) - 1 : this.#lookUp(text);
    this.#lastTexts[place] = text;
    this.#lastNumbers[place] = number;
    return number;
  }

  #lookUp(text: string): number {
    const assigned = this.#numbers.get(text);
    this.#newMore += assigned === undefined ? 1 : -1;
    if (assigned !== undefined) return assigned;
    const number = this.texts.push(text) - 1;
    this.#numbers.set(text, number);
    return number;
  }
}
