import { type BucketSide, type SentHistogram, toBounded, toGrid } from '#modules/metrics/decide/exponential_buckets.ts';
import { WIRE, type WireReader } from '#ingest/protocols/body/protobuf_wire.ts';

/** The bits of the NaN that Prometheus writes as the sum when a series has ended. */
const STALE = { high: 0x7ff00000, low: 0x00000002 };
/** The schema of a histogram with bounds of its own instead of exponential ones. */
const CUSTOM_BOUNDS = -53;
/** Value of `ResetHint.GAUGE`: the counts may fall. */
const GAUGE_HINT = 3;
/** Limit on the buckets of one histogram, far more than any sender has. */
const BUCKETS_MAX = 20_000;

/** The buckets of one side, as they were sent: spans of neighbours, and counts as differences or as they are. */
class Side {
  readonly offsets: number[] = [];
  readonly lengths: number[] = [];
  readonly deltas: number[] = [];
  readonly counts: number[] = [];

  clear(): void {
    for (const list of [this.offsets, this.lengths, this.deltas, this.counts]) list.length = 0;
  }

  /** The counts, and the index of each; null where spans and counts do not match. */
  read(): { readonly counts: readonly number[]; readonly indexes: readonly number[] } | null {
    const counts: number[] = [...this.counts];
    let running = 0;
    for (const delta of this.deltas) counts.push((running += delta));
    const indexes: number[] = [];
    let index = 0;
    for (const [span, offset] of this.offsets.entries()) {
      index += offset;
      const length = this.lengths[span] ?? 0;
      if (indexes.length + length > counts.length) return null;
      for (let i = 0; i < length; i += 1) indexes.push(index++);
    }
    return indexes.length === counts.length ? { counts, indexes } : null;
  }
}

/** Reads the histograms of remote write 1.0 and 2.0, whose messages are alike, one at a time. */
export class NativeHistogramReader {
  count = 0;
  sum = 0;
  at = 0;
  /** Time at which it began to count; 0 if that was not sent. */
  startAt = 0;
  isStale = false;
  isGauge = false;
  readonly #reader: WireReader;
  readonly #positive = new Side();
  readonly #negative = new Side();
  readonly #bounds: number[] = [];
  #schema = 0;
  #zeroThreshold = 0;
  #zeroCount = 0;

  constructor(reader: WireReader) {
    this.#reader = reader;
  }

  read(end: number): void {
    this.#clear();
    const reader = this.#reader;
    while (reader.nextField(end)) {
      if (reader.wire === WIRE.varint) this.#readVarint(end);
      else if (reader.wire === WIRE.fixed64) this.#readDouble(end);
      else if (reader.wire === WIRE.bytes) this.#readList(reader.message(end));
      else reader.skip(end);
    }
  }

  /** Returns the buckets; null if they are out of range. */
  buckets(): SentHistogram | null {
    const [positive, negative] = [this.#positive.read(), this.#negative.read()];
    if (positive === null || negative === null) return null;
    if (this.#schema === CUSTOM_BOUNDS) return toBounded(this.#bounds, positive.counts, positive.indexes);
    // Prometheus numbers a bucket by its upper bound.
    const side = ({ counts, indexes }: NonNullable<typeof positive>): BucketSide => ({ offset: -1, counts, indexes });
    return toGrid({
      scale: this.#schema,
      zeroCount: this.#zeroCount,
      zeroThreshold: this.#zeroThreshold,
      positive: side(positive),
      negative: side(negative),
    });
  }

  #clear(): void {
    this.count = 0;
    this.sum = 0;
    this.at = 0;
    this.startAt = 0;
    this.isStale = false;
    this.isGauge = false;
    this.#positive.clear();
    this.#negative.clear();
    this.#bounds.length = 0;
    this.#schema = 0;
    this.#zeroThreshold = 0;
    this.#zeroCount = 0;
  }

  #readVarint(end: number): void {
    const reader = this.#reader;
    const { field } = reader;
    if (field === 1) this.count = reader.varint(end);
    else if (field === 4) this.#schema = reader.sint32(end);
    else if (field === 6) this.#zeroCount = reader.varint(end);
    else if (field === 14) this.isGauge = reader.varint(end) === GAUGE_HINT;
    else if (field === 15) this.at = reader.int64(end);
    else if (field === 17) this.startAt = reader.int64(end);
    else reader.skip(end);
  }

  #readDouble(end: number): void {
    const reader = this.#reader;
    const { field } = reader;
    const value = reader.double(end);
    if (field === 2) this.count = value;
    else if (field === 5) this.#zeroThreshold = value;
    else if (field === 7) this.#zeroCount = value;
    else if (field === 3) {
      this.sum = value;
      this.isStale = Number.isNaN(value) && reader.lastDoubleWas(STALE.high, STALE.low);
    }
  }

  #readList(end: number): void {
    const reader = this.#reader;
    const { field } = reader;
    const side = field < 11 ? this.#negative : this.#positive;
    if (field === 8 || field === 11) this.#readSpan(end, side);
    else if (field === 9 || field === 12) this.#fill(side.deltas, end, () => reader.sint64(end));
    else if (field === 10 || field === 13) this.#fill(side.counts, end, () => reader.double(end));
    else if (field === 16) this.#fill(this.#bounds, end, () => reader.double(end));
    else reader.pos = end;
  }

  #fill(list: number[], end: number, next: () => number): void {
    while (this.#reader.pos < end && list.length < BUCKETS_MAX) list.push(next());
    this.#reader.pos = end;
  }

  #readSpan(end: number, side: Side): void {
    const reader = this.#reader;
    let offset = 0;
    let length = 0;
    while (reader.nextField(end)) {
      if (reader.is(1, WIRE.varint)) offset = reader.sint32(end);
      else if (reader.is(2, WIRE.varint)) length = reader.varint(end);
      else reader.skip(end);
    }
    if (side.offsets.length >= BUCKETS_MAX) return;
    side.offsets.push(offset);
    side.lengths.push(length);
  }
}
