import { PointAdmission, type DecodedPoints, type PointLimits } from '#core/metrics/admission.ts';
import { toSeriesText } from '#core/metrics/labels.ts';
import type { PointKind, Series } from '#core/metrics/point.ts';
import { checkBodySize } from '#ingest/protocols/body/body_size.ts';
import { parseMediaType } from '#ingest/protocols/body/media_type.ts';
import type { Steps } from '#ingest/protocols/body/steps.ts';
import { kindOfSeries, type FamilyTypes } from '#ingest/protocols/prometheus/counter_names.ts';
import { InflateRoom } from '#ingest/protocols/prometheus/inflate_room.ts';
import { SampleReader } from '#ingest/protocols/prometheus/sample_reader.ts';
import { SeriesLabels } from '#ingest/protocols/prometheus/series_labels.ts';
import { type RememberedSeries, SeriesMemory } from '#ingest/protocols/prometheus/series_memory.ts';
import { inflateSnappyBlock } from '#ingest/protocols/prometheus/snappy_block.ts';
import { type Survey, surveyRequest } from '#ingest/protocols/prometheus/survey_request.ts';
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
export function* decodePrometheusWrite(
  body: Buffer,
  contentType: string | undefined,
  now: Temporal.Instant,
  limits: PointLimits,
  memory = new SeriesMemory(),
): Steps<DecodedPoints> {
  const { type, parameters } = parseMediaType(contentType);
  const message = parameters.get('proto') ?? 'prometheus.WriteRequest';
  if (type !== 'application/x-protobuf' || message !== 'prometheus.WriteRequest') {
    throw new AppError(
      'unsupported_media_type',
      'send Prometheus remote write 1.0: application/x-protobuf with the message prometheus.WriteRequest',
    );
  }
  checkBodySize(body, limits.bodyBytesMax);
  const reader = new WireReader(yield* inflateSnappyBlock(body, limits.bodyBytesMax, room), 'WriteRequest');
  const mayRest = reader.bytes.length > ROOM_BYTES_MAX;
  return yield* new WriteRequestDecoder(reader, yield* surveyRequest(reader, mayRest), now, limits, memory).decode(
    mayRest,
  );
}

/** Decoding keeps nothing of the bytes that it reads, and rests over none that are so few: they are in memory that is shared. */
const ROOM_BYTES_MAX = 1024 * 1024;
const room = new InflateRoom(ROOM_BYTES_MAX);
/** Series are so quick to read that to rest after each would take longer. */
const REST_AFTER = 256;
/** Twice what a series with all the labels and samples of a request takes. */
const SERIES_BYTES_MAX = 4 * 1024 * 1024;

class WriteRequestDecoder {
  readonly #reader: WireReader;
  readonly #types: FamilyTypes;
  readonly #admission: PointAdmission;
  readonly #labels: SeriesLabels;
  readonly #memory: SeriesMemory;
  readonly #sample: SampleReader;
  #remembered: RememberedSeries | null = null;
  readonly #hasLabel = (label: string): boolean => this.#labels.has(label);
  readonly #placeOfRemembered = (): string => (this.#remembered === null ? '' : textOf(this.#remembered.series));

  constructor(
    reader: WireReader,
    { types, series }: Survey,
    now: Temporal.Instant,
    limits: PointLimits,
    memory: SeriesMemory,
  ) {
    this.#reader = reader;
    this.#types = types;
    this.#admission = new PointAdmission(now, limits, series);
    this.#labels = new SeriesLabels(this.#reader, this.#admission);
    this.#memory = memory;
    this.#sample = new SampleReader(this.#reader);
  }

  *decode(mayRest: boolean): Steps<DecodedPoints> {
    const reader = this.#reader;
    const end = reader.bytes.length;
    for (let fields = 1; reader.nextField(end); fields += 1) {
      if (reader.is(1, WIRE.bytes)) this.#readTimeSeries(reader.message(end));
      else reader.skip(end);
      if (mayRest && fields % REST_AFTER === 0) yield;
    }
    return this.#admission.result();
  }

  #readTimeSeries(end: number): void {
    if (end - this.#reader.pos > SERIES_BYTES_MAX) {
      this.#admission.refuse(`a series of more than ${SERIES_BYTES_MAX} bytes`, () => '');
      this.#reader.pos = end;
      return;
    }
    // What metadata of the same request says of a series is not remembered of it.
    if (this.#types.size > 0) this.#readNewSeries(end);
    else if (!this.#readExpected(end)) this.#readUnexpected(end);
  }

  /** Reads a series that follows the one before it as it did the last time; false, having read nothing, for any other. */
  #readExpected(end: number): boolean {
    const reader = this.#reader;
    const start = reader.pos;
    const expected = this.#memory.findNext(reader.view, start, end);
    if (expected === undefined) return false;
    reader.pos = start + expected.length;
    if (this.#readRemembered(expected, end)) return true;
    reader.pos = start;
    return false;
  }

  #readUnexpected(end: number): void {
    const reader = this.#reader;
    const start = reader.pos;
    const samplesStart = this.#passLabels(end);
    const isPlain = samplesStart > start && this.#hasOnlySamples(end);
    reader.pos = samplesStart;
    const remembered = isPlain ? this.#memory.find(reader.view, start, samplesStart) : undefined;
    if (remembered !== undefined && this.#readRemembered(remembered, end)) return;
    reader.pos = start;
    const series = this.#readNewSeries(end);
    if (series === null || !isPlain) return;
    const [high, low] = halvesOf(series.key);
    const kind = kindOfSeries(series.name, this.#hasLabel, this.#types);
    this.#memory.add(reader.view, start, { series, high, low, admittedBy: null, length: samplesStart - start, kind });
  }

  /** Passes the labels with which a series begins, and says where they end. */
  #passLabels(end: number): number {
    const reader = this.#reader;
    let labelsEnd = reader.pos;
    while (reader.nextField(end) && reader.is(1, WIRE.bytes)) labelsEnd = reader.pos = reader.message(end);
    return (reader.pos = labelsEnd);
  }

  /** Says whether the rest of a series is samples and nothing else. */
  #hasOnlySamples(end: number): boolean {
    const reader = this.#reader;
    const start = reader.pos;
    let isSample = start < end;
    while (isSample && reader.nextField(end)) {
      isSample = reader.is(2, WIRE.bytes);
      reader.skip(end);
    }
    reader.pos = start;
    return isSample;
  }

  /** Reads the rest of a series that was sent with the same labels before; false where it is to be looked at anew. */
  #readRemembered(remembered: RememberedSeries, end: number): boolean {
    const isLone = this.#sample.readLone(end);
    if (!isLone && !this.#hasOnlySamples(end)) return false;
    const index = this.#admission.addTakenBefore(remembered);
    if (index === null) return false;
    this.#remembered = remembered;
    if (isLone) this.#addSample(index, remembered.kind, this.#placeOfRemembered);
    else this.#readSamples(end, index, remembered.kind, this.#placeOfRemembered);
    return true;
  }

  /**
   * Two walks: labels may stand behind the samples, and a series that is refused is refused with all of these. Null
   * when it is, or has no samples.
   */
  #readNewSeries(end: number): Series | null {
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
    const kind = kindOfSeries(this.#labels.name, this.#hasLabel, this.#types);
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
      this.#sample.read(reader.message(end));
      this.#addSample(series, kind, place);
    }
  }

  #addSample(series: number, kind: PointKind, place: () => string): void {
    const { at, value, isStale } = this.#sample;
    this.#admission.add(series, at, value, isStale ? 'stale' : kind, place);
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
