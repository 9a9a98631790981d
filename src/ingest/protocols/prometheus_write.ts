import { PointAdmission, type DecodedPoints, type PointLimits } from '#core/metrics/admission.ts';
import { toSeriesText } from '#core/metrics/labels.ts';
import type { PointKind, Series } from '#core/metrics/point.ts';
import { checkBodySize } from '#ingest/protocols/body/body_size.ts';
import { parseMediaType } from '#ingest/protocols/body/media_type.ts';
import { kindOfSeries, type FamilyTypes } from '#ingest/protocols/prometheus/counter_names.ts';
import { InflateRoom } from '#ingest/protocols/prometheus/inflate_room.ts';
import { SeriesLabels } from '#ingest/protocols/prometheus/series_labels.ts';
import { SeriesMemory } from '#ingest/protocols/prometheus/series_memory.ts';
import { inflateSnappyBlock } from '#ingest/protocols/prometheus/snappy_block.ts';
import { decodeText } from '#ingest/protocols/protobuf/decode_text.ts';
import { WIRE, WireReader } from '#ingest/protocols/protobuf/wire_reader.ts';
import { AppError } from '#kernel/errors.ts';
import type { Temporal } from '#kernel/time.ts';

/**
 * Prometheus remote write 1.0: a snappy block around a protobuf WriteRequest. `body` is as it was sent, whatever its
 * Content-Encoding says (it says `snappy`). Stale markers become points of kind `stale`; exemplars are passed over.
 * `memory` is shared by requests under the same limits, but for how old points may be and which series are allowed.
 *
 * Fails with `unsupported_media_type` (remote write 2.0 and anything else), `payload_too_large`, or `invalid_input`
 * when the body cannot be read at all.
 */
export function decodePrometheusWrite(
  body: Buffer,
  contentType: string | undefined,
  now: Temporal.Instant,
  limits: PointLimits,
  memory = new SeriesMemory(),
): DecodedPoints {
  const { type, parameters } = parseMediaType(contentType);
  const message = parameters.get('proto') ?? 'prometheus.WriteRequest';
  if (type !== 'application/x-protobuf' || message !== 'prometheus.WriteRequest') {
    throw new AppError(
      'unsupported_media_type',
      'send Prometheus remote write 1.0: application/x-protobuf with the message prometheus.WriteRequest',
    );
  }
  checkBodySize(body, limits.bodyBytesMax);
  return new WriteRequestDecoder(inflateSnappyBlock(body, limits.bodyBytesMax, room), now, limits, memory).decode();
}

/** Decoding keeps nothing of the bytes that it reads. */
const room = new InflateRoom(1024 * 1024);

/** The bits of the NaN that Prometheus writes when a series has ended. */
const STALE_HIGH = 0x7ff00000;
const STALE_LOW = 0x00000002;

class WriteRequestDecoder {
  readonly #reader: WireReader;
  readonly #admission: PointAdmission;
  readonly #labels: SeriesLabels;
  readonly #memory: SeriesMemory;
  readonly #hasLabel = (label: string): boolean => this.#labels.has(label);

  constructor(message: Buffer, now: Temporal.Instant, limits: PointLimits, memory: SeriesMemory) {
    this.#reader = new WireReader(message, 'WriteRequest');
    this.#admission = new PointAdmission(now, limits);
    this.#labels = new SeriesLabels(this.#reader, this.#admission);
    this.#memory = memory;
  }

  decode(): DecodedPoints {
    const reader = this.#reader;
    const end = reader.bytes.length;
    // Metadata is written behind the series that it speaks of.
    const types = this.#readMetadata(end);
    reader.pos = 0;
    while (reader.nextField(end)) {
      if (reader.is(1, WIRE.bytes)) this.#readTimeSeries(reader.message(end), types);
      else reader.skip(end);
    }
    return this.#admission.result();
  }

  #readMetadata(end: number): FamilyTypes {
    const reader = this.#reader;
    const types = new Map<string, number>();
    while (reader.nextField(end)) {
      if (!reader.is(3, WIRE.bytes)) {
        reader.skip(end);
        continue;
      }
      const metadataEnd = reader.message(end);
      let type = 0;
      let family: string | null = null;
      while (reader.nextField(metadataEnd)) {
        if (reader.is(1, WIRE.varint)) type = reader.varint(metadataEnd);
        else if (reader.is(2, WIRE.bytes)) {
          const familyEnd = reader.message(metadataEnd);
          family = decodeText(reader.bytes, reader.pos, familyEnd);
          reader.pos = familyEnd;
        } else reader.skip(metadataEnd);
      }
      if (family !== null) types.set(family, type);
    }
    return types;
  }

  #readTimeSeries(end: number, types: FamilyTypes): void {
    const start = this.#reader.pos;
    const samplesStart = this.#passLabels(end);
    const isPlain = samplesStart > start && this.#hasOnlySamples(end);
    if (isPlain && types.size === 0 && this.#readRemembered(start, samplesStart, end)) return;
    this.#reader.pos = start;
    const series = this.#readNewSeries(end, types);
    if (series === null || !isPlain || types.size > 0) return;
    const [high, low] = halvesOf(series.key);
    const kind = kindOfSeries(series.name, this.#hasLabel, types);
    this.#memory.add(this.#reader.view, start, samplesStart, { series, high, low, kind });
  }

  /** Passes the labels with which a series begins, and says where they end. */
  #passLabels(end: number): number {
    const reader = this.#reader;
    let labelsEnd = reader.pos;
    while (reader.nextField(end) && reader.is(1, WIRE.bytes)) labelsEnd = reader.pos = reader.message(end);
    return (reader.pos = labelsEnd);
  }

  /** Passes the rest of a series and says whether it is samples and nothing else. */
  #hasOnlySamples(end: number): boolean {
    const reader = this.#reader;
    if (reader.pos === end) return false;
    while (reader.nextField(end)) {
      if (!reader.is(2, WIRE.bytes)) return false;
      reader.skip(end);
    }
    return true;
  }

  /** Reads the samples of a series that was sent with the same labels before; false where it is to be looked at anew. */
  #readRemembered(start: number, samplesStart: number, end: number): boolean {
    const remembered = this.#memory.find(this.#reader.view, start, samplesStart);
    if (remembered === undefined) return false;
    const { series, high, low, kind } = remembered;
    const index = this.#admission.addTakenBefore(series, high, low);
    if (index === null) return false;
    this.#reader.pos = samplesStart;
    this.#readSamples(end, index, kind, () => textOf(series));
    return true;
  }

  /**
   * Two walks: labels may stand behind the samples, and a series that is refused is refused with all of these. Null
   * when it is, or has no samples.
   */
  #readNewSeries(end: number, types: FamilyTypes): Series | null {
    const start = this.#reader.pos;
    const samples = this.#readLabels(end);
    if (samples === 0) return null;
    const admission = this.#admission;
    const place = (): string => this.#labels.toText();
    const series = this.#labels.addSeries();
    if (typeof series === 'string') {
      admission.refuse(series, place, samples);
      return null;
    }
    const kind = kindOfSeries(this.#labels.name, this.#hasLabel, types);
    this.#reader.pos = start;
    this.#readSamples(end, series, kind, place);
    return admission.batch.series[series] ?? null;
  }

  /** Reads the labels of a series and says how many samples it has; those are passed over. */
  #readLabels(end: number): number {
    const reader = this.#reader;
    this.#labels.clear();
    let samples = 0;
    let histograms = 0;
    while (reader.nextField(end)) {
      if (reader.is(1, WIRE.bytes)) {
        this.#labels.read(reader.message(end));
        continue;
      }
      if (reader.is(2, WIRE.bytes)) samples += 1;
      else if (reader.is(4, WIRE.bytes)) histograms += 1;
      reader.skip(end);
    }
    if (histograms > 0) {
      this.#admission.refuse(
        'a native histogram: have it sent as a classic one',
        () => this.#labels.toText(),
        histograms,
      );
    }
    return samples;
  }

  #readSamples(end: number, series: number, kind: PointKind, place: () => string): void {
    const reader = this.#reader;
    while (reader.nextField(end)) {
      if (!reader.is(2, WIRE.bytes)) {
        reader.skip(end);
        continue;
      }
      const sampleEnd = reader.message(end);
      let value = 0;
      let at = 0;
      let isStale = false;
      while (reader.nextField(sampleEnd)) {
        if (reader.is(1, WIRE.fixed64)) {
          value = reader.double(sampleEnd);
          isStale = Number.isNaN(value) && reader.lastDoubleWas(STALE_HIGH, STALE_LOW);
        } else if (reader.is(2, WIRE.varint)) at = reader.int64(sampleEnd);
        else reader.skip(sampleEnd);
      }
      this.#admission.add(series, at, value, isStale ? 'stale' : kind, place);
    }
  }
}

function textOf({ name, labels }: Series): string {
  const named = Array.from({ length: labels.length / 2 }, (_, i) => ({
    name: labels[i * 2] ?? '',
    value: labels[i * 2 + 1] ?? '',
  }));
  return toSeriesText(name, named);
}

function halvesOf(key: bigint): readonly [high: number, low: number] {
  return [Number(BigInt.asIntN(32, key >> 32n)), Number(BigInt.asIntN(32, key))];
}
