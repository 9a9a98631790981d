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
import type { PointAdmission } from '#ingest/admission/point_admission.ts';
import { isSameSpan, SpanIndex } from '#ingest/hashing/span_index.ts';
import { LABEL_BYTES } from '#ingest/protocols/body/json_cursor.ts';
import { decodeText, NOT_UTF8, WIRE, type WireReader } from '#ingest/protocols/body/protobuf_wire.ts';
import type { Series } from '#modules/metrics/decide/point.ts';

export const NO_NAME = 'a series without a metric name (__name__)';

/** The labels of one time series at a time. */
export class SeriesLabels {
  readonly #reader: WireReader;
  readonly #admission: PointAdmission;
  readonly #spans: SpanIndex;
  readonly #decoded: Label[] = [];
  /** The name that was decoded last, which most labels that follow have too, and where it stands. */
  #lastName: string | null = null;
  #lastNameStart = 0;
  #lastNameLength = -1;
  readonly #labels: Label[] = [];
  #name: Label | null = null;
  #fault: string | null = null;

  constructor(reader: WireReader, admission: PointAdmission) {
    this.#reader = reader;
    this.#admission = admission;
    this.#spans = new SpanIndex(reader.view);
  }

  clear(): void {
    emptyLabels(this.#labels);
    this.#name = null;
    this.#fault = null;
  }

  /** The metric's name; empty until it was read. */
  get name(): string {
    return this.#name?.value ?? '';
  }

  has(label: string): boolean {
    return this.#labels.some(({ name }) => name === label);
  }

  /** Reads one Label message. Once the series is refused, no more text is decoded. */
  read(end: number): void {
    const reader = this.#reader;
    if (this.#fault === null && this.#admission.hasCapacityFor(1)) {
      const number = this.#spans.numberOf(reader.pos, end);
      this.#take((this.#decoded[number] ??= this.#decode(end)));
    }
    reader.pos = end;
  }

  /** The labels but the metric's name. */
  get list(): readonly Label[] {
    return this.#labels;
  }

  /** Returns why the series is refused; null if it is not. */
  fault(): string | null {
    if (this.#fault !== null) return this.#fault;
    if (!this.#admission.hasCapacityFor(1)) return this.#admission.fullMessage;
    return this.#name === null ? NO_NAME : this.#name.fault;
  }

  /** Adds the series to the batch and returns its index, or the reason why it is refused. */
  addSeries(): number | string {
    return this.#name === null
      ? (this.fault() ?? NO_NAME)
      : (this.fault() ?? this.#admission.addSeries(this.#name, this.#labels));
  }

  /** The series as text, as far as it was read. */
  toText(): string {
    return toSeriesText(this.name, this.#labels);
  }

  #take(label: Label): void {
    const { labelsMax } = this.#admission.limits;
    if (label === UNREAD_LABEL) this.#fault = label.fault;
    if (label.name !== NAME_LABEL) {
      if (this.#labels.push(label) > labelsMax) this.#fault = tooManyLabels(labelsMax);
      return;
    }
    if (this.#name !== null) this.#fault = 'the label "__name__" twice';
    this.#name = label;
  }

  #decode(end: number): Label {
    const reader = this.#reader;
    if (!this.#admission.mayReadLabel(LABEL_BYTES)) {
      reader.pos = end;
      return UNREAD_LABEL;
    }
    const { textBytesMax } = this.#admission.limits;
    let name: string | null = '';
    let value: string | null = '';
    while (reader.nextField(end)) {
      if (!reader.is(1, WIRE.bytes) && !reader.is(2, WIRE.bytes)) {
        reader.skip(end);
        continue;
      }
      const { field } = reader;
      const textEnd = reader.message(end);
      if (textEnd - reader.pos > textBytesMax) return faultyLabel('', tooLong('label', textBytesMax));
      if (field === 1) name = this.#decodeName(textEnd);
      else value = decodeText(reader.bytes, reader.pos, textEnd);
      reader.pos = textEnd;
    }
    return name === null || value === null ? faultyLabel('', NOT_UTF8) : this.#admission.label(name, value);
  }
  #decodeName(end: number): string | null {
    const { bytes, view, pos } = this.#reader;
    const length = end - pos;
    if (length === this.#lastNameLength && isSameSpan(view, this.#lastNameStart, view, pos, length))
      return this.#lastName;
    this.#lastName = decodeText(bytes, pos, end);
    this.#lastNameStart = pos;
    this.#lastNameLength = length;
    return this.#lastName;
  }
}

/** Whether label names and values in turn hold this label. */
export function hasLabel(labels: readonly string[], label: string): boolean {
  for (let i = 0; i < labels.length; i += 2) if (labels[i] === label) return true;
  return false;
}

/** Formats a series for messages. */
export function textOf({ name, labels }: Series): string {
  const named = Array.from({ length: labels.length / 2 }, (_, i) => ({
    name: labels[i * 2] ?? '',
    value: labels[i * 2 + 1] ?? '',
  }));
  return toSeriesText(name, named);
}
