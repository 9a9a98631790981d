import type { PointKind } from '#modules/metrics/decide/point.ts';
import { kindOfSeries } from '#ingest/protocols/prometheus/counter_names.ts';
import { emptyLabels, faultyLabel, type Label, NAME_LABEL, tooLong, UNREAD_LABEL } from '#ingest/admission/labels.ts';
import type { PointAdmission } from '#ingest/admission/point_admission.ts';
import { SpanIndex } from '#ingest/hashing/span_index.ts';
import { type JsonCursor, LABEL_BYTES } from '#ingest/protocols/body/json_cursor.ts';

const DATE = String.raw`(\d{4}-\d\d-(\d\d))`;
const TIME = String.raw`((?:[01]\d|2[0-3]):[0-5]\d):([0-5]\d|60)(\.\d+)?`;
const ZONE = String.raw`([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)`;
const RFC3339 = new RegExp(`^${DATE}[Tt ]${TIME}${ZONE}$`);

/**
 * Epoch milliseconds of an RFC 3339 time, null for anything else. Finer fractions are cut off; a leap second is the
 * second after it. Temporal takes four times as long, and a request may hold 100,000 times.
 */
export function parseRfc3339(text: string): number | null {
  const match = RFC3339.exec(text);
  if (match === null) return null;
  const [, date = '', day, minute, second, fraction = '', zone = ''] = match;
  const isLeapSecond = second === '60';
  const at = Date.parse(`${date}T${minute}:${isLeapSecond ? '59' : second}${fraction}${zone.toUpperCase()}`);
  if (Number.isNaN(at) || (Number(day) > 28 && !exists(date))) return null;
  return isLeapSecond ? at + 1_000 : at;
}

/** Returns whether the date exists: `Date` reads February 30th as March 2nd. */
function exists(date: string): boolean {
  return new Date(`${date}T00:00:00Z`).toISOString().startsWith(date);
}

/**
 * Bound between units: in milliseconds this is the year 1973, in seconds the year 5138, so a smaller number must be in
 * seconds.
 */
const SECONDS_BELOW = 100_000_000_000;
/** The same bounds above: in microseconds these are the years 1973 and 5138. */
const [MICROSECONDS_FROM, NANOSECONDS_FROM] = [SECONDS_BELOW * 1_000, SECONDS_BELOW * 1_000_000];
/** Longest text that may be a time. */
const TIME_BYTES_MAX = 64;
/** Bytes that an escape may take in JSON for each byte that it stands for. */
const ESCAPE_BYTES = 6;
/** Points whose faults are described. Describing takes longer than reading, and more would not be listed anyway. */
const DESCRIBED_MAX = 1_000;
const FAULTS_MAX = 10;

/** Reads and checks the points of Tocsin's own format, one after the other, without an object for each. */
export class NativePoints {
  readonly #admission: PointAdmission;
  readonly #cursor: JsonCursor;
  readonly #nowMs: number;
  readonly #place: () => string;
  readonly #names: Texts;
  readonly #labels: Texts;
  /** Labels of the point being read. */
  readonly #pointLabels: Label[] = [];
  readonly #faults: string[] = [];
  #isFaulty = false;
  #described = 0;

  /** Creates a reader; `place` returns the position in the body of the point being read, for its refusal. */
  constructor(admission: PointAdmission, cursor: JsonCursor, nowMs: number, place: () => string) {
    this.#admission = admission;
    this.#cursor = cursor;
    this.#nowMs = nowMs;
    this.#place = place;
    this.#names = new Texts(cursor);
    this.#labels = new Texts(cursor);
  }

  /** Reads the point at which the cursor stands. */
  take(): void {
    const cursor = this.#cursor;
    const admission = this.#admission;
    if (!cursor.isObject) {
      admission.refuse(`an object with "name" and "value" is expected, not ${cursor.kind()}`, this.#place);
      cursor.skip();
      return;
    }
    emptyLabels(this.#pointLabels);
    this.#isFaulty = false;
    let name: Label | null = null;
    let value = 0;
    let hasName = false;
    let hasValue = false;
    let at = this.#nowMs;
    cursor.begin();
    while (cursor.nextName()) {
      if (cursor.isTextOf('name')) {
        name = this.#readName();
        hasName = true;
      } else if (cursor.isTextOf('value')) {
        value = this.#readValue();
        hasValue = true;
      } else if (cursor.isTextOf('at')) at = this.#readTime();
      else if (cursor.isTextOf('labels')) this.#readLabels();
      else {
        if (this.#mayDescribe()) this.#faults.push(`unknown property ${JSON.stringify(cursor.shownText())}`);
        cursor.skip();
      }
    }
    if (!hasName && this.#mayDescribe()) this.#faults.push('name: a string is expected, not nothing');
    if (!hasValue && this.#mayDescribe()) this.#faults.push('value: a number is expected, not nothing');
    if (this.#isFaulty || name === null) this.#refuse();
    else this.#add(name, at, value);
  }

  #add(name: Label, at: number, value: number): void {
    const admission = this.#admission;
    const series = admission.findOrAddSeries(name, this.#pointLabels);
    if (typeof series === 'string') admission.refuse(series, this.#place);
    else admission.add(series, at, value, this.#kindOf(name.value), this.#place);
  }

  /** Returns the kind by the type if senders declared one, else by the ending of the name; the bound makes a bucket. */
  #kindOf(name: string): PointKind {
    const isBucket = name.endsWith('_bucket') && this.#pointLabels.some((label) => label.name === 'le');
    if (!isBucket && !name.endsWith('_total')) return 'gauge';
    return kindOfSeries(name, () => false, this.#admission.limits.types.typeOf);
  }

  #refuse(): void {
    const faults = this.#faults.slice(0, FAULTS_MAX).join('; ');
    this.#admission.refuse(faults === '' ? 'other faults, not listed' : faults, this.#place);
    this.#faults.length = 0;
  }

  /** Notes that the point is refused; whether there is still a reason to say why. */
  #mayDescribe(): boolean {
    if (!this.#isFaulty) this.#described += 1;
    this.#isFaulty = true;
    return this.#described <= DESCRIBED_MAX && this.#faults.length < FAULTS_MAX;
  }

  #readName(): Label | null {
    const cursor = this.#cursor;
    if (!cursor.isText) {
      this.#expect('name', 'a string');
      return null;
    }
    const start = cursor.pos;
    cursor.readText();
    const number = this.#names.numberOf(start, cursor.pos);
    return (this.#names.labels[number] ??= this.#mayRead() ? this.#label('metric name', NAME_LABEL) : UNREAD_LABEL);
  }

  #readValue(): number {
    const cursor = this.#cursor;
    if (cursor.isNumber) return cursor.number();
    this.#expect('value', 'a number');
    return 0;
  }

  #readTime(): number {
    const cursor = this.#cursor;
    if (cursor.isNumber) {
      const at = cursor.number();
      const size = Math.abs(at);
      if (size >= SECONDS_BELOW && size < MICROSECONDS_FROM) return Math.floor(at);
      const unit = size < SECONDS_BELOW ? 'seconds' : size < NANOSECONDS_FROM ? 'microseconds' : 'nanoseconds';
      if (this.#mayDescribe()) this.#faults.push(`at: epoch times are in milliseconds, and this one reads as ${unit}`);
      return 0;
    }
    let kind: string = cursor.kind();
    if (cursor.isText) {
      cursor.readText();
      const isShort = cursor.textEnd - cursor.textStart <= TIME_BYTES_MAX;
      const parsed = isShort ? parseRfc3339(cursor.text()) : null;
      if (parsed !== null) return parsed;
      kind = 'another text';
    } else cursor.skip();
    if (this.#mayDescribe())
      this.#faults.push(`at: epoch milliseconds or an RFC 3339 time with an offset is expected, not ${kind}`);
    return 0;
  }

  #readLabels(): void {
    const cursor = this.#cursor;
    if (!cursor.isObject) {
      this.#expect('labels', 'an object');
      return;
    }
    const labels = this.#pointLabels;
    const { labelsMax } = this.#admission.limits;
    emptyLabels(labels);
    const start = cursor.pos;
    cursor.begin();
    for (;;) {
      // One label too many is enough to refuse the point.
      if (labels.length > labelsMax) {
        cursor.skipRest(start);
        return;
      }
      if (!cursor.nextName()) return;
      if (cursor.isText) labels.push(this.#readLabel(cursor.textStart));
      else if (this.#mayDescribe()) this.#expect(`labels[${JSON.stringify(cursor.shownText())}]`, 'a string');
      else cursor.skip();
    }
  }

  /** Reads a label's value; the same bytes are the same label, and decoded only once a request. */
  #readLabel(nameStart: number): Label {
    const cursor = this.#cursor;
    cursor.readText();
    const number = this.#labels.numberOf(nameStart, cursor.pos);
    const reused = this.#labels.labels[number];
    if (reused !== undefined) return reused;
    if (!this.#mayRead()) return (this.#labels.labels[number] = UNREAD_LABEL);
    const end = cursor.pos;
    cursor.pos = nameStart - 1;
    cursor.readText();
    const label = this.#label('label', null);
    cursor.pos = end;
    return (this.#labels.labels[number] = label);
  }

  /** The label whose name was read last, or the metric's name if there is a `name` already. */
  #label(what: 'label' | 'metric name', name: string | null): Label {
    const cursor = this.#cursor;
    const { textBytesMax } = this.#admission.limits;
    const isTooLong = (): boolean => cursor.textEnd - cursor.textStart > textBytesMax * ESCAPE_BYTES;
    if (isTooLong()) return faultyLabel(name ?? '', tooLong(what, textBytesMax));
    if (name !== null) return this.#admission.label(name, cursor.text());
    const labelName = cursor.text();
    cursor.skipBlanks();
    cursor.pos += 1;
    cursor.skipBlanks();
    cursor.readText();
    return isTooLong()
      ? faultyLabel(labelName, tooLong(what, textBytesMax))
      : this.#admission.label(labelName, cursor.text());
  }

  #mayRead(): boolean {
    return this.#admission.mayReadLabel(LABEL_BYTES);
  }

  #expect(field: string, what: string): void {
    const cursor = this.#cursor;
    if (this.#mayDescribe()) this.#faults.push(`${field}: ${what} is expected, not ${cursor.kind()}`);
    cursor.skip();
  }
}

/** Texts that were read, by their bytes, and the labels that they became. */
class Texts {
  readonly labels: (Label | undefined)[] = [];
  readonly #spans: SpanIndex;

  constructor(cursor: JsonCursor) {
    this.#spans = new SpanIndex(cursor.view);
  }

  numberOf(start: number, end: number): number {
    return this.#spans.numberOf(start, end);
  }
}
