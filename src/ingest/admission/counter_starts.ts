import { COUNTER_LOOKBACK_MS } from '#modules/metrics/decide/aggregation.ts';
import { baseOf, type CounterWriter, earlierOf, momentOf } from '#modules/metrics/decide/counter_writers.ts';
import { asCoarse, bucketsBefore, type SentHistogram } from '#modules/metrics/decide/exponential_buckets.ts';
import { SMALL_FALL_PARTS } from '#modules/metrics/decide/series_points.ts';
import type { PointBatch } from '#ingest/admission/point_batch.ts';
import { type HistogramExport, isSameWriter, SeriesStarts, withExport } from '#ingest/series/series_starts.ts';

/** Time after which a process that writes no more is forgotten. */
const WRITER_MS = 3_600_000;

/** Values that precede the buckets in an export of a histogram. */
export interface BucketBases {
  /** Time at which the buckets are stored. */
  readonly at: number;
  /** Time at which the same process last sent the histogram; NaN if unknown. */
  readonly lastAt: number;
  /** Count of each bucket before this export, to be stored; null where the stored samples say it. */
  readonly counts: readonly number[] | null;
  /** Time of the first export after the last reset: what a bucket held before is no count of the process. */
  readonly resetAt: number;
  /** The histogram in the layout to store. */
  readonly histogram: SentHistogram;
}

/**
 * Adds the points of kind `start` to a request: since when its counters count, and what precedes samples of which the
 * sample before is of another process or of another layout of buckets.
 */
export class CounterStarts {
  /** Samples of series that two processes are known to write at the same time. */
  overlaps = 0;
  readonly #batch: PointBatch;
  readonly #shared: SeriesStarts;
  readonly #oldest: number;
  /** Starts found in this request. */
  readonly #added = new SeriesStarts();

  constructor(batch: PointBatch, seriesStarts: SeriesStarts, oldest: number) {
    this.#batch = batch;
    this.#shared = seriesStarts;
    this.#oldest = oldest;
  }

  /** Adds the starts of this request to the known ones; call it once the request is stored. */
  remember(): void {
    this.#shared.addAll(this.#added);
  }

  /** Returns the time at which to store a sample of a counter, for `note`. */
  momentOf(seriesIndex: number, sample: CounterWriter): number {
    const key = this.#keyOf(seriesIndex);
    const current = this.#currentOf(key);
    if (current === null) return sample.at;
    const isCurrent = current.startAt === sample.startAt;
    const written = isCurrent ? current : this.#othersOf(key).find(({ startAt }) => startAt === sample.startAt);
    return momentOf(sample, current, written ?? null);
  }

  /** Notes a sample of a counter that was added, and adds what precedes it. */
  note(seriesIndex: number, sample: CounterWriter): void {
    const key = this.#keyOf(seriesIndex);
    const current = this.#currentOf(key);
    const others = this.#othersOf(key);
    const isCurrent = current?.startAt === sample.startAt;
    const earlier = others.length === 0 || isCurrent ? null : earlierOf(others, sample);
    const base = baseOf(sample, current, earlier, others.length > 0 || this.#shared.isShared(key));
    if (base.kind === 'start') this.#addStart(seriesIndex, sample, current);
    else if (base.kind === 'value') {
      this.#add(seriesIndex, sample.at - 1, base.value, sample.at);
      if (base.isOverlap) this.overlaps += 1;
    }
    if (current !== null && sample.at <= current.at) return;
    if (current !== null && (base.kind !== 'none' || earlier !== null)) {
      const recent = others.filter((writer) => writer.startAt !== sample.startAt && writer.at > sample.at - WRITER_MS);
      this.#added.setOthers(key, [...recent, current]);
    }
    this.#added.set(key, sample);
  }

  /**
   * Notes that a histogram was sent whose count is this series, and returns what precedes its buckets. To be called once
   * for each of its points.
   */
  noteHistogram(countIndex: number, startAt: number, sentAt: number, sent: SentHistogram): BucketBases {
    const key = this.#keyOf(countIndex);
    const exports = this.#added.histograms.of(key) ?? this.#shared.histograms.of(key) ?? [];
    const newest = exports.at(-1);
    const before = exports.find((writer) => isSameWriter(writer, { startAt }));
    const histogram = before === undefined ? sent : asCoarse(sent, before.histogram);
    const at = momentOf(
      writerOf(startAt, sentAt, sent),
      newest ? writerOfExport(newest) : null,
      before ? writerOfExport(before) : null,
    );
    const isNewer = newest === undefined || at > newest.at;
    const merged = before === undefined ? null : bucketsBefore(before.histogram, histogram);
    const hasOwnSamples = before === newest && !Number.isNaN(startAt);
    const held =
      before === undefined || hasOwnSamples ? merged : (merged ?? sameLayoutCounts(before.histogram, histogram));
    const isReset =
      isNewer && before !== undefined && Number.isNaN(startAt) && isFarBelow(histogram, held ?? [], before);
    const resetAt = isReset ? at : (before?.resetAt ?? -Infinity);
    if (isNewer) this.#added.histograms.set(key, withExport(exports, { startAt, at, histogram, resetAt }));
    const bases = { at, lastAt: before?.at ?? Number.NaN, counts: null, resetAt, histogram };
    if (!isNewer || newest === undefined) return bases;
    if (before === undefined) return { ...bases, counts: countsOfNewWriter({ startAt, at, histogram }, newest) };
    if (isReset) return { ...bases, counts: histogram.buckets.map(() => 0) };
    return { ...bases, counts: before === newest ? merged : held };
  }

  /**
   * Notes a bucket of a histogram that sends only the buckets that hold anything. One that was not there the time before
   * held nothing then.
   */
  noteBucket(
    seriesIndex: number,
    sample: CounterWriter,
    { lastAt, counts, resetAt }: BucketBases,
    place: number,
  ): void {
    const key = this.#keyOf(seriesIndex);
    const { startAt, at } = sample;
    const base = counts?.[place];
    if (base !== undefined) {
      this.#add(seriesIndex, at - 1, base, at);
      this.#added.set(key, { ...sample, startAt: Number.isNaN(startAt) ? at : startAt });
      return;
    }
    const current = this.#currentOf(key);
    const earlierStart = current?.startAt ?? Number.NaN;
    if (Number.isNaN(startAt)) {
      if (earlierStart >= resetAt) return;
      this.#added.set(key, { ...sample, startAt: Number.isNaN(lastAt) ? at : lastAt });
      if (!Number.isNaN(lastAt)) this.#add(seriesIndex, lastAt, 0, at);
      return;
    }
    if (earlierStart >= startAt) return;
    this.#added.set(key, sample);
    if (lastAt > startAt) this.#add(seriesIndex, lastAt, 0, at);
    else this.#addStart(seriesIndex, sample, current);
  }

  /**
   * Adds the start of a sample. A series has one point at a time, and a process that knows nothing of earlier samples
   * adds the start again: it is stored a millisecond later, as many senders give the time of the first sample as the
   * start. What such a sample had counted is stored behind that start.
   */
  #addStart(seriesIndex: number, { startAt, at, value }: CounterWriter, current: CounterWriter | null): void {
    this.#add(seriesIndex, startAt + 1 < at ? startAt + 1 : startAt, 0, at);
    const isFirst = isAtStart({ startAt, at }) && (current === null || !isAtStart(current));
    if (isFirst) this.#batch.add(seriesIndex, startAt + 2, value, 'start');
  }

  /** A start at the time of the sample itself stands for an unknown one. */
  #add(seriesIndex: number, startAt: number, value: number, at: number): void {
    if (startAt < at && startAt >= this.#oldest) this.#batch.add(seriesIndex, startAt, value, 'start');
  }

  #keyOf(seriesIndex: number): bigint {
    return this.#batch.series[seriesIndex]?.key ?? 0n;
  }

  #othersOf(key: bigint): readonly CounterWriter[] {
    return this.#added.others(key) ?? this.#shared.others(key) ?? [];
  }

  #currentOf(key: bigint): CounterWriter | null {
    return this.#added.current(key) ?? this.#shared.current(key);
  }
}

/** Whether a sample is so close to its start that the start cannot be stored behind its own time and before the sample. */
function isAtStart({ startAt, at }: Pick<CounterWriter, 'startAt' | 'at'>): boolean {
  return at === startAt || at === startAt + 1;
}

/** An export as the sample of a writer, which is what it has counted. */
function writerOf(startAt: number, at: number, { buckets }: SentHistogram): CounterWriter {
  return { startAt, at, value: buckets.reduce((sum: number, { count }) => sum + count, 0) };
}

function writerOfExport({ startAt, at, histogram }: HistogramExport): CounterWriter {
  return writerOf(startAt, at, histogram);
}

/**
 * Returns the bucket counts before the first export of a process that writes beside another one, as `baseOf` does for
 * counters.
 */
function countsOfNewWriter(
  { startAt, at, histogram }: Omit<HistogramExport, 'resetAt'>,
  newest: HistogramExport,
): readonly number[] | null {
  if (!(startAt < newest.at)) return null;
  return histogram.buckets.map(({ count }) => (startAt >= at - COUNTER_LOOKBACK_MS ? 0 : count));
}

function sameLayoutCounts(before: SentHistogram, now: SentHistogram): readonly number[] {
  let counts: ReadonlyMap<string, number> | null = null;
  return now.buckets.map(({ range }, place) => {
    const same = before.buckets[place];
    if (same?.range === range) return same.count;
    counts ??= new Map(before.buckets.map((bucket) => [bucket.range, bucket.count]));
    return counts.get(range) ?? 0;
  });
}

/**
 * Whether the buckets have lost so much of what they held that it is a reset, as `growthBetween` has it of counters. A
 * reset is one of the whole histogram, by Prometheus's specification.
 */
function isFarBelow(now: SentHistogram, held: readonly number[], before: HistogramExport): boolean {
  const total = writerOfExport(before).value;
  const kept = now.buckets.reduce((sum, { count }, place) => sum + Math.min(count, held[place] ?? 0), 0);
  return total > 0 && (total - kept) * SMALL_FALL_PARTS >= total;
}
