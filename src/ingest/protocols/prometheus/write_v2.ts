import { SERIES_BYTES_MAX } from '#ingest/protocols/prometheus/scan_request.ts';
import { LABEL_BYTES } from '#ingest/protocols/body/json_cursor.ts';
import type { PointKind } from '#modules/metrics/decide/point.ts';
import {
  emptyLabels,
  faultyLabel,
  type Label,
  NAME_LABEL,
  tooLong,
  tooManyLabels,
  toSeriesText,
  UNREAD_LABEL,
} from '#ingest/admission/labels.ts';
import { type DecodedPoints, PointAdmission, type PointLimits } from '#ingest/admission/point_admission.ts';
import type { Steps } from '#kernel/cooperative_task.ts';
import { familyOf, kindOfTyped } from '#ingest/protocols/prometheus/counter_names.ts';
import { isSpanLabel, isTraceLabel } from '#ingest/protocols/prometheus/sample_reader.ts';
import { HistogramPoints } from '#ingest/protocols/prometheus/histogram_points.ts';
import { NativeHistogramReader } from '#ingest/protocols/prometheus/native_histogram.ts';
import { NO_NAME } from '#ingest/protocols/prometheus/series_labels.ts';
import { decodeText, NOT_UTF8, WIRE, type WireReader } from '#ingest/protocols/body/protobuf_wire.ts';
import { AppError } from '#kernel/errors.ts';
import type { Temporal } from '#kernel/time.ts';

const STALE_HIGH = 0x7ff00000;
const STALE_LOW = 0x00000002;
const REST_AFTER = 128;
const SYMBOLS_MAX = 1_000_000;
const REFERENCES = 2 ** 26;
/** Limit on the labels of an exemplar, more than any client sends. */
const EXEMPLAR_LABELS_MAX = 16;

/** Counts of what was accepted, which remote write 2.0 reports in headers. */
export interface Written {
  samples: number;
  histograms: number;
  exemplars: number;
}

/** A series as it is read: the positions of its parts, since what governs them may stand behind. */
interface Parts {
  samples: number;
  histograms: number;
  exemplars: number;
  type: number;
  /** The symbol of the unit; 0 is the empty text. */
  unit: number;
  createdAt: number;
}

/**
 * Decodes a `io.prometheus.write.v2.Request`: texts stand once in a table of symbols, and each series says its type and
 * when it was created.
 */
export class WriteV2Decoder {
  readonly written: Written = { samples: 0, histograms: 0, exemplars: 0 };
  readonly #reader: WireReader;
  readonly #admission: PointAdmission;
  readonly #histogram: NativeHistogramReader;
  readonly #histogramPoints: HistogramPoints;
  /** Start and end of each symbol. */
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  readonly #decoded = new Map<number, Label>();
  readonly #labels: Label[] = [];
  #name: Label | null = null;
  #fault: string | null = null;
  readonly #parts: Parts = { samples: 0, histograms: 0, exemplars: 0, type: 0, unit: 0, createdAt: Number.NaN };
  readonly #place = (): string => toSeriesText(this.#name?.value ?? '', this.#labels);

  constructor(reader: WireReader, now: Temporal.Instant, limits: PointLimits) {
    this.#reader = reader;
    this.#admission = new PointAdmission(now, limits, { bodyBytes: reader.bytes.length });
    this.#histogram = new NativeHistogramReader(reader);
    this.#histogramPoints = new HistogramPoints(this.#admission);
  }

  *decode(): Steps<DecodedPoints> {
    const reader = this.#reader;
    const end = reader.bytes.length;
    for (let fields = 1; reader.nextField(end); fields += 1) {
      if (fields % REST_AFTER === 0) yield;
      if (reader.is(4, WIRE.bytes)) this.#addSymbol(reader.message(end));
      else reader.skip(end);
    }
    reader.pos = 0;
    for (let fields = 1; reader.nextField(end); fields += 1) {
      if (fields % REST_AFTER === 0) yield;
      if (reader.is(5, WIRE.bytes)) this.#readSeries(reader.message(end));
      else reader.skip(end);
    }
    return { ...this.#admission.result(), written: this.written };
  }

  #addSymbol(end: number): void {
    const reader = this.#reader;
    if (this.#starts.length >= SYMBOLS_MAX) throw this.#invalid(`more than ${SYMBOLS_MAX} symbols`);
    this.#starts.push(reader.pos);
    this.#ends.push(end);
    reader.pos = end;
  }

  #readSeries(end: number): void {
    const reader = this.#reader;
    const admission = this.#admission;
    const start = reader.pos;
    emptyLabels(this.#labels);
    this.#name = null;
    this.#fault = null;
    if (end - start > SERIES_BYTES_MAX) {
      admission.refuse(`a series of more than ${SERIES_BYTES_MAX} bytes`, this.#place);
      reader.pos = end;
      return;
    }
    const { samples, histograms, exemplars, type, unit, createdAt } = this.#readParts(end);
    if (samples + histograms + exemplars === 0) return;
    const name = this.#nameLabel();
    const fault = this.#fault ?? (name === null ? NO_NAME : name.fault);
    if (fault !== null || name === null || !admission.hasCapacityFor(1)) {
      if (samples + histograms > 0) admission.refuse(fault ?? admission.fullMessage, this.#place, samples + histograms);
      return;
    }
    if (type !== 0) admission.announceType(familyOf(type, name.value), type, this.#unitOf(unit));
    reader.pos = start;
    if (exemplars > 0) this.#readExemplars(end, name.value);
    reader.pos = start;
    if (samples > 0) this.#readSamples(end, name, { samples, type, createdAt });
    reader.pos = start;
    if (histograms > 0) this.#readHistograms(end, name.value, createdAt);
    reader.pos = end;
  }

  #nameLabel(): Label | null {
    return this.#name;
  }

  /** Reads the labels and what governs the samples, which it counts. */
  #readParts(end: number): Parts {
    const reader = this.#reader;
    const parts = this.#parts;
    parts.samples = 0;
    parts.histograms = 0;
    parts.exemplars = 0;
    parts.type = 0;
    parts.unit = 0;
    parts.createdAt = Number.NaN;
    while (reader.nextField(end)) {
      const { field, wire } = reader;
      if (field === 6 && wire === WIRE.varint) {
        const createdAt = reader.int64(end);
        if (createdAt !== 0) parts.createdAt = createdAt;
      } else if (wire !== WIRE.bytes) reader.skip(end);
      else if (field === 1) this.#readLabels(reader.message(end));
      else if (field === 5) this.#readMetadata(reader.message(end));
      else {
        if (field === 2) parts.samples += 1;
        else if (field === 3) parts.histograms += 1;
        else if (field === 4) parts.exemplars += 1;
        reader.skip(end);
      }
    }
    return parts;
  }

  /** References of names and values in turn. */
  #readLabels(end: number): void {
    const reader = this.#reader;
    const { labelsMax } = this.#admission.limits;
    while (reader.pos < end && this.#fault === null && this.#admission.hasCapacityFor(1)) {
      const name = reader.varint(end);
      const value = reader.varint(end);
      const label = this.#labelOf(name, value);
      if (label.name === NAME_LABEL) {
        if (this.#name !== null) this.#fault = 'the label "__name__" twice';
        this.#name = label;
      } else if (this.#labels.push(label) > labelsMax) this.#fault = tooManyLabels(labelsMax);
    }
    reader.pos = end;
  }

  #labelOf(nameReference: number, valueReference: number): Label {
    const count = this.#starts.length;
    if (nameReference >= count || valueReference >= count) throw this.#invalid('a label refers to no symbol');
    const key = nameReference * REFERENCES + valueReference;
    let label = this.#decoded.get(key);
    if (label !== undefined) return label;
    label = this.#admission.mayReadLabel(LABEL_BYTES) ? this.#makeLabel(nameReference, valueReference) : UNREAD_LABEL;
    this.#decoded.set(key, label);
    return label;
  }

  #makeLabel(nameReference: number, valueReference: number): Label {
    const { textBytesMax } = this.#admission.limits;
    const name = this.#symbol(nameReference);
    const value = this.#symbol(valueReference);
    if (name === undefined || value === undefined) return faultyLabel('', tooLong('label', textBytesMax));
    if (name === null || value === null) return faultyLabel(name ?? '', NOT_UTF8);
    return this.#admission.label(name, value);
  }

  /** Returns a symbol; null if it is not UTF-8, undefined if it is too long for a label. */
  #symbol(reference: number): string | null | undefined {
    const start = this.#starts[reference] ?? 0;
    const end = this.#ends[reference] ?? 0;
    return end - start > this.#admission.limits.textBytesMax ? undefined : decodeText(this.#reader.bytes, start, end);
  }

  #unitOf(reference: number): string {
    return reference === 0 || reference >= this.#starts.length ? '' : (this.#symbol(reference) ?? '');
  }

  #readMetadata(end: number): void {
    const reader = this.#reader;
    const parts = this.#parts;
    while (reader.nextField(end)) {
      if (reader.is(1, WIRE.varint)) parts.type = reader.varint(end);
      else if (reader.is(4, WIRE.varint)) parts.unit = reader.varint(end);
      else reader.skip(end);
    }
  }

  #readSamples(
    end: number,
    name: Label,
    { samples, type, createdAt }: Omit<Parts, 'histograms' | 'exemplars' | 'unit'>,
  ): void {
    const reader = this.#reader;
    const admission = this.#admission;
    const series = admission.findOrAddSeries(name, this.#labels);
    if (typeof series === 'string') {
      admission.refuse(series, this.#place, samples);
      reader.pos = end;
      return;
    }
    const hasQuantile = this.#labels.some((label) => label.name === 'quantile');
    const kind = kindOfTyped(type, name.value, hasQuantile);
    while (reader.nextField(end)) {
      if (reader.is(2, WIRE.bytes)) this.#readSample(reader.message(end), series, kind, createdAt);
      else reader.skip(end);
    }
  }

  #readSample(end: number, series: number, kind: PointKind, createdAt: number): void {
    const reader = this.#reader;
    const admission = this.#admission;
    let value = 0;
    let at = 0;
    let startAt = createdAt;
    let isStale = false;
    while (reader.nextField(end)) {
      if (reader.is(1, WIRE.fixed64)) {
        value = reader.double(end);
        isStale = Number.isNaN(value) && reader.lastDoubleWas(STALE_HIGH, STALE_LOW);
      } else if (reader.is(2, WIRE.varint)) at = reader.int64(end);
      else if (reader.is(3, WIRE.varint)) startAt = reader.int64(end) || createdAt;
      else reader.skip(end);
    }
    const before = admission.taken;
    if (isStale) admission.add(series, at, 0, 'stale', this.#place);
    else admission.addSince(series, startAt, at, value, kind, this.#place);
    this.written.samples += admission.taken - before;
  }

  #readHistograms(end: number, name: string, createdAt: number): void {
    const reader = this.#reader;
    while (reader.nextField(end)) {
      if (!reader.is(3, WIRE.bytes)) {
        reader.skip(end);
        continue;
      }
      this.#histogram.read(reader.message(end));
      const isTaken = this.#histogramPoints.add(
        name,
        this.#labels,
        this.#histogram,
        this.#histogram.startAt || createdAt,
        this.#place,
      );
      if (isTaken) this.written.histograms += 1;
    }
  }

  #readExemplars(end: number, name: string): void {
    const reader = this.#reader;
    while (reader.nextField(end)) {
      if (!reader.is(4, WIRE.bytes)) {
        reader.skip(end);
        continue;
      }
      if (!this.#admission.exemplars.mayRead()) {
        this.written.exemplars += 1;
        reader.skip(end);
        continue;
      }
      if (this.#readExemplar(reader.message(end), name)) this.written.exemplars += 1;
    }
  }

  /**
   * Whether it is one, kept or left out on purpose: senders compare how many were written with what they sent. What is
   * none does no harm to the points beside it.
   */
  #readExemplar(end: number, name: string): boolean {
    const reader = this.#reader;
    const sent = { at: Number.NaN, value: 0, traceId: '', spanId: '' };
    try {
      while (reader.nextField(end)) {
        if (reader.is(1, WIRE.bytes)) this.#readExemplarLabels(reader.message(end), sent);
        else if (reader.is(2, WIRE.fixed64)) sent.value = reader.double(end);
        else if (reader.is(3, WIRE.varint)) sent.at = reader.int64(end);
        else reader.skip(end);
      }
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return false;
    } finally {
      reader.pos = end;
    }
    this.#admission.exemplars.add(name, this.#labels, sent);
    return true;
  }

  #readExemplarLabels(end: number, into: { traceId: string; spanId: string }): void {
    const reader = this.#reader;
    for (let read = 0; reader.pos < end && read < EXEMPLAR_LABELS_MAX; read += 1) {
      const name = this.#symbol(reader.varint(end));
      const value = this.#symbol(reader.varint(end)) ?? '';
      if (isTraceLabel(name)) into.traceId = value;
      else if (isSpanLabel(name)) into.spanId = value;
    }
    reader.pos = end;
  }

  #invalid(fault: string): AppError {
    return new AppError('invalid_input', `the body is no io.prometheus.write.v2.Request: ${fault}`);
  }
}
