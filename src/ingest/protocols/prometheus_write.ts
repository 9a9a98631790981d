import { PointAdmission, type DecodedPoints, type PointLimits } from '#ingest/admission/point_admission.ts';
import { toSeriesText } from '#ingest/admission/labels.ts';
import type { PointKind, Series } from '#modules/metrics/decide/point.ts';
import { POINTS_BODY_BYTES_MAX } from '#modules/metrics/decide/limits.ts';
import { describeRejected, type Rejected } from '#ingest/admission/refusals.ts';
import { checkBodySize } from '#ingest/protocols/body/body_size.ts';
import { parseMediaType } from '#ingest/protocols/body/media_type.ts';
import type { Steps } from '#kernel/cooperative_task.ts';
import type { MetricProtocol, ProtocolAnswer } from '#ingest/protocol.ts';
import { kindOfSeries, type TypeOfFamily } from '#ingest/protocols/prometheus/counter_names.ts';
import { HistogramPoints } from '#ingest/protocols/prometheus/histogram_points.ts';
import { NativeHistogramReader } from '#ingest/protocols/prometheus/native_histogram.ts';
import { readExemplar, SampleReader } from '#ingest/protocols/prometheus/sample_reader.ts';
import { hasLabel, NO_NAME, SeriesLabels, textOf } from '#ingest/protocols/prometheus/series_labels.ts';
import { type RememberedSeries, SeriesMemory } from '#ingest/protocols/prometheus/series_memory.ts';
import { inflateSnappyBlock, ScratchBuffer } from '#ingest/protocols/prometheus/snappy_block.ts';
import { scanRequest, SERIES_BYTES_MAX } from '#ingest/protocols/prometheus/scan_request.ts';
import { describeTypeChanges, TypeChanges } from '#ingest/series/metric_types.ts';
import { WriteV2Decoder, type Written } from '#ingest/protocols/prometheus/write_v2.ts';
import { WIRE, WireReader } from '#ingest/protocols/body/protobuf_wire.ts';
import { INGEST_PATHS } from '#kernel/api_paths.ts';
import { AppError } from '#kernel/errors.ts';
import type { Temporal } from '#kernel/time.ts';

const PROTOBUF_TYPE = 'application/x-protobuf';

/** Prometheus remote write 1.0 and 2.0. */
export const PROMETHEUS_WRITE: MetricProtocol = {
  name: 'prometheus_write',
  path: INGEST_PATHS.prometheus_write,
  bodyBytesMax: POINTS_BODY_BYTES_MAX,
  ownEncoding: 'snappy',
  decode: decodePrometheusWrite,
  decodeInflated: decodeInflatedWrite,
  answer: ({ points, rejected, written, typeChanges }) => {
    if (written !== undefined) return answerV2(rejected, written, typeChanges);
    // Version 1.0 cannot refuse a part; Prometheus logs the text of a 400 and gives the request up.
    if (points.length === 0 && rejected.count > 0) throw new AppError('invalid_input', describeRejected(rejected));
    return taken(typeChanges);
  },
  reference: {
    operationId: 'ingest_prometheus_write',
    summary: 'Send metrics by Prometheus remote write 1.0 or 2.0',
    description:
      'Protobuf, compressed with snappy, or with zstd or gzip as Content-Encoding says, of the version that the content type names; any other is answered 415, which says so. Native histograms are taken. Version 2.0 is told in headers what was written, and 400 if a part was refused. Prometheus comes back after 429 only with `queue_config: { retry_on_http_429: true }`, and always after 503.',
    request: { [PROTOBUF_TYPE]: { schema: { type: 'string', contentMediaType: 'application/octet-stream' } } },
    accepted: { status: 204, description: 'Taken.' },
  },
};

const V1 = 'prometheus.WriteRequest';
const V2 = 'io.prometheus.write.v2.Request';

/** Returns the response when everything was accepted; a sender that looks at the body is told what is odd. */
function taken(typeChanges: DecodedPoints['typeChanges']): ProtocolAnswer {
  return typeChanges.count === 0
    ? { status: 204, contentType: null, body: '' }
    : { status: 200, contentType: 'text/plain; charset=utf-8', body: describeTypeChanges(typeChanges) };
}

/** Version 2.0 has what was written told in headers, and answers 400 when a part was refused: the rest is taken. */
function answerV2(
  rejected: Rejected,
  { samples, histograms, exemplars }: Written,
  typeChanges: DecodedPoints['typeChanges'],
): ProtocolAnswer {
  const headers = {
    'x-prometheus-remote-write-samples-written': String(samples),
    'x-prometheus-remote-write-histograms-written': String(histograms),
    'x-prometheus-remote-write-exemplars-written': String(exemplars),
  };
  return rejected.count === 0
    ? { ...taken(typeChanges), headers }
    : { status: 400, contentType: 'text/plain; charset=utf-8', body: describeRejected(rejected), headers };
}

/**
 * Prometheus remote write: a snappy block with a protobuf message of version 1.0 or 2.0. `body` is compressed; its
 * Content-Encoding (`snappy`) is undone here. Stale markers become points of kind `stale`; of exemplars, those that
 * name a trace are kept. All requests that share a `memory` need the same limits, except for the age of points and the
 * allowed series.
 *
 * Throws `unsupported_media_type` (any other version), `payload_too_large`, or `invalid_input` when the body cannot be
 * decoded at all.
 */
export function* decodePrometheusWrite(
  body: Buffer,
  contentType: string | undefined,
  now: Temporal.Instant,
  limits: PointLimits,
  memory = new SeriesMemory(),
): Steps<DecodedPoints> {
  const message = messageOf(contentType);
  checkBodySize(body, limits.bodyBytesMax);
  // A body that is read in steps must not lie in the shared buffer.
  const buffer = message === V2 ? undefined : scratch;
  const bytes = yield* inflateSnappyBlock(body, limits.bodyBytesMax, buffer);
  return yield* decodeMessage(new WireReader(bytes, 'WriteRequest'), message, now, limits, memory);
}

/** Decodes a body that is already decompressed. */
export function* decodeInflatedWrite(
  body: Buffer,
  contentType: string | undefined,
  now: Temporal.Instant,
  limits: PointLimits,
  memory = new SeriesMemory(),
): Steps<DecodedPoints> {
  const message = messageOf(contentType);
  checkBodySize(body, limits.bodyBytesMax);
  return yield* decodeMessage(new WireReader(body, 'WriteRequest'), message, now, limits, memory);
}

function messageOf(contentType: string | undefined): typeof V1 | typeof V2 {
  const { type, parameters } = parseMediaType(contentType);
  const message = parameters.get('proto') ?? V1;
  if (type !== PROTOBUF_TYPE || (message !== V1 && message !== V2)) {
    throw new AppError(
      'unsupported_media_type',
      `send Prometheus remote write 1.0 or 2.0: ${PROTOBUF_TYPE} with the message ${V1} or ${V2}`,
    );
  }
  return message;
}

function* decodeMessage(
  reader: WireReader,
  message: typeof V1 | typeof V2,
  now: Temporal.Instant,
  limits: PointLimits,
  memory: SeriesMemory,
): Steps<DecodedPoints> {
  if (message === V2) return yield* new WriteV2Decoder(reader, now, limits).decode();
  const mayPause = reader.bytes.length > SCRATCH_BYTES_MAX;
  const typeChanges = new TypeChanges();
  const { series } = yield* scanRequest(reader, mayPause, (family, type, unit) => {
    typeChanges.add(limits.types.tell(family, type, unit));
  });
  const admission = new PointAdmission(now, limits, {
    bodyBytes: reader.bytes.length,
    pointsExpected: series,
    typeChanges,
  });
  return yield* new WriteRequestDecoder(reader, admission, memory).decode(mayPause);
}

/** A body up to this size is decoded without a pause, because its bytes lie in the shared buffer; none of them are kept. */
const SCRATCH_BYTES_MAX = 1024 * 1024;
const scratch = new ScratchBuffer(SCRATCH_BYTES_MAX);
/** Series decoded between pauses; decoding one takes less time than a pause. */
const PAUSE_AFTER = 256;
/** The label `__name__` with one letter takes 15 bytes. */
const SERIES_BYTES_MIN = 15;
const NO_PLACE = (): string => toSeriesText('', []);

class WriteRequestDecoder {
  readonly #reader: WireReader;
  readonly #typeOf: TypeOfFamily;
  readonly #admission: PointAdmission;
  readonly #labels: SeriesLabels;
  readonly #memory: SeriesMemory;
  readonly #sample: SampleReader;
  readonly #histogram: NativeHistogramReader;
  readonly #histogramPoints: HistogramPoints;
  #remembered: RememberedSeries | null = null;
  readonly #hasLabel = (label: string): boolean => this.#labels.has(label);
  readonly #nameOfRemembered = (): string => (this.#remembered === null ? '' : textOf(this.#remembered.series));

  constructor(reader: WireReader, admission: PointAdmission, memory: SeriesMemory) {
    this.#reader = reader;
    this.#admission = admission;
    this.#typeOf = admission.limits.types.typeOf;
    this.#labels = new SeriesLabels(this.#reader, this.#admission);
    this.#memory = memory;
    this.#sample = new SampleReader(this.#reader);
    this.#histogram = new NativeHistogramReader(this.#reader);
    this.#histogramPoints = new HistogramPoints(this.#admission);
  }

  *decode(mayPause: boolean): Steps<DecodedPoints> {
    const reader = this.#reader;
    const end = reader.bytes.length;
    for (let fields = 1; reader.nextField(end); fields += 1) {
      if (reader.is(1, WIRE.bytes)) this.#readTimeSeries(reader.message(end));
      else reader.skip(end);
      if (mayPause && fields % PAUSE_AFTER === 0) yield;
    }
    return this.#admission.result();
  }

  #readTimeSeries(end: number): void {
    if (end - this.#reader.pos < SERIES_BYTES_MIN) {
      this.#refuseTiny(end);
      return;
    }
    if (end - this.#reader.pos > SERIES_BYTES_MAX) {
      this.#admission.refuse(`a series of more than ${SERIES_BYTES_MAX} bytes`, () => '');
      this.#reader.pos = end;
      return;
    }
    if (!this.#readExpected(end)) this.#readUnexpected(end);
  }

  /**
   * Refuses series with too few bytes for a metric's name without reading them; skips empty ones, which are no series.
   */
  #refuseTiny(end: number): void {
    const reader = this.#reader;
    let points = 0;
    while (reader.nextField(end)) {
      if (reader.is(2, WIRE.bytes) || reader.is(4, WIRE.bytes)) points += 1;
      reader.skip(end);
    }
    if (points > 0) this.#admission.refuse(NO_NAME, NO_PLACE, points);
  }

  /** Reads a series that comes in the same order as last time; otherwise returns false and reads nothing. */
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
    const samplesStart = this.#skipLabels(end);
    const isPlain = samplesStart > start && this.#hasOnlySamples(end);
    reader.pos = samplesStart;
    const remembered = isPlain ? this.#memory.find(reader.view, start, samplesStart) : undefined;
    if (remembered !== undefined && this.#readRemembered(remembered, end)) return;
    reader.pos = start;
    const series = this.#readNewSeries(end);
    if (series === null || !isPlain) return;
    const { keyHigh: high, keyLow: low } = this.#admission;
    const { types } = this.#admission.limits;
    const kind = kindOfSeries(series.name, this.#hasLabel, this.#typeOf);
    this.#memory.addSought(reader.view, start, {
      series,
      high,
      low,
      admittedBy: null,
      length: samplesStart - start,
      kind,
      types,
      typesVersion: types.version,
    });
  }

  /** Skips the labels at the start of a series and returns where they end. */
  #skipLabels(end: number): number {
    const reader = this.#reader;
    let labelsEnd = reader.pos;
    while (reader.nextField(end) && reader.is(1, WIRE.bytes)) labelsEnd = reader.pos = reader.message(end);
    return (reader.pos = labelsEnd);
  }

  /** Whether the rest of the series consists only of samples. */
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

  /** Reads the rest of a series whose labels were sent before; false if it must be decoded completely. */
  #readRemembered(remembered: RememberedSeries, end: number): boolean {
    const isLone = this.#sample.readSingle(end);
    if (!isLone && !this.#hasOnlySamples(end)) return false;
    const index = this.#admission.addAcceptedSeries(remembered);
    if (index === null) return false;
    this.#remembered = remembered;
    const kind = this.#kindOfRemembered(remembered);
    if (isLone) this.#addSample(index, kind, this.#nameOfRemembered);
    else this.#readSamples(end, index, kind, this.#nameOfRemembered);
    return true;
  }

  /** Judged again when the sender was another service, or has said more of its types. */
  #kindOfRemembered(remembered: RememberedSeries): PointKind {
    const { types } = this.#admission.limits;
    if (remembered.types === types && remembered.typesVersion === types.version) return remembered.kind;
    const { name, labels } = remembered.series;
    remembered.kind = kindOfSeries(name, (label) => hasLabel(labels, label), this.#typeOf);
    remembered.types = types;
    remembered.typesVersion = types.version;
    return remembered.kind;
  }

  /**
   * Reads twice, because labels may follow the samples, and a refused series is refused with all its samples. Null if it
   * is refused or has no samples.
   */
  #readNewSeries(end: number): Series | null {
    const start = this.#reader.pos;
    const { samples, histograms, exemplars } = this.#readLabels(end);
    if (exemplars > 0) this.#readExemplars(start, end);
    if (histograms > 0) this.#readHistograms(start, end, histograms);
    if (samples === 0) return null;
    const admission = this.#admission;
    const place = (): string => this.#labels.toText();
    const series = this.#labels.addSeries();
    if (typeof series === 'string') {
      admission.refuse(series, place, samples);
      return null;
    }
    const kind = kindOfSeries(this.#labels.name, this.#hasLabel, this.#typeOf);
    this.#reader.pos = start;
    this.#readSamples(end, series, kind, place);
    return admission.batch.series[series] ?? null;
  }

  #readExemplars(start: number, end: number): void {
    if (this.#labels.fault() !== null) return;
    const reader = this.#reader;
    reader.pos = start;
    while (reader.nextField(end)) {
      if (!reader.is(3, WIRE.bytes) || !this.#admission.exemplars.mayRead()) {
        reader.skip(end);
        continue;
      }
      const sent = readExemplar(reader, reader.message(end));
      if (sent !== null) this.#admission.exemplars.add(this.#labels.name, this.#labels.list, sent);
    }
  }

  #readHistograms(start: number, end: number, histograms: number): void {
    const reader = this.#reader;
    const labels = this.#labels;
    const place = (): string => labels.toText();
    const fault = labels.fault();
    if (fault !== null) {
      this.#admission.refuse(fault, place, histograms);
      return;
    }
    reader.pos = start;
    while (reader.nextField(end)) {
      if (reader.is(4, WIRE.bytes)) {
        this.#histogram.read(reader.message(end));
        this.#histogramPoints.add(labels.name, labels.list, this.#histogram, Number.NaN, place);
      } else reader.skip(end);
    }
  }

  /** Reads the labels of a series and returns the numbers of its samples and histograms, which it skips. */
  #readLabels(end: number): { readonly samples: number; readonly histograms: number; readonly exemplars: number } {
    const reader = this.#reader;
    this.#labels.clear();
    let samples = 0;
    let histograms = 0;
    let exemplars = 0;
    while (reader.nextField(end)) {
      if (reader.is(1, WIRE.bytes)) {
        this.#labels.read(reader.message(end));
        continue;
      }
      if (reader.is(2, WIRE.bytes)) samples += 1;
      else if (reader.is(3, WIRE.bytes)) exemplars += 1;
      else if (reader.is(4, WIRE.bytes)) histograms += 1;
      reader.skip(end);
    }
    return { samples, histograms, exemplars };
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
