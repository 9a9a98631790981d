import type { SentExemplar } from '#ingest/admission/point_batch.ts';
import { decodeText, WIRE, type WireReader } from '#ingest/protocols/body/protobuf_wire.ts';
import { AppError } from '#kernel/errors.ts';

/** The bits of the NaN that Prometheus writes when a series has ended. */
const STALE_HIGH = 0x7ff00000;
const STALE_LOW = 0x00000002;

/** The tags of a sample within its series, and of its fields. */
const SAMPLE_TAG = (2 << 3) | WIRE.bytes;
const VALUE_TAG = (1 << 3) | WIRE.fixed64;
const TIME_TAG = (2 << 3) | WIRE.varint;

const HEAD_BYTES = 2;
/** Size of a value, including its tag. */
const VALUE_BYTES = 9;

/** The samples of time series, one at a time. */
export class SampleReader {
  value = 0;
  at = 0;
  /** A stale marker: the series has ended. */
  isStale = false;
  readonly #reader: WireReader;

  constructor(reader: WireReader) {
    this.#reader = reader;
  }

  /** Reads a Sample message. */
  read(end: number): void {
    const reader = this.#reader;
    this.value = 0;
    this.at = 0;
    this.isStale = false;
    while (reader.nextField(end)) {
      if (reader.is(1, WIRE.fixed64)) this.#readValue(end);
      else if (reader.is(2, WIRE.varint)) this.at = reader.int64(end);
      else reader.skip(end);
    }
  }

  /**
   * Reads a single sample that ends its series, in the usual order of fields: the value, left out when it is 0, then the
   * time. Nearly all samples are like that, and reading them this way saves 9 % of the time of decoding a recorded scrape.
   * Otherwise returns false and reads nothing.
   */
  readSingle(end: number): boolean {
    const reader = this.#reader;
    const { bytes, pos: start } = reader;
    const length = end - start - HEAD_BYTES;
    if (length < 2 || length > 0x7f || bytes[start] !== SAMPLE_TAG || bytes[start + 1] !== length) return false;
    reader.pos = start + HEAD_BYTES;
    this.value = 0;
    this.isStale = false;
    if (length > VALUE_BYTES && bytes[reader.pos] === VALUE_TAG) {
      reader.pos += 1;
      this.#readValue(end);
    }
    if (bytes[reader.pos] === TIME_TAG) {
      reader.pos += 1;
      this.at = reader.int64(end);
      if (reader.pos === end) return true;
    }
    reader.pos = start;
    return false;
  }

  #readValue(end: number): void {
    this.value = this.#reader.double(end);
    this.isStale = Number.isNaN(this.value) && this.#reader.lastDoubleWas(STALE_HIGH, STALE_LOW);
  }
}

/** Names of labels that clients use: `trace_id`, `traceID`, `traceId` of prom-client, `trace.id`. */
export const isTraceLabel = (name: string | null | undefined): boolean => isNamed(name, 'traceid');
export const isSpanLabel = (name: string | null | undefined): boolean => isNamed(name, 'spanid');

const NAME_LENGTH_MAX = 'trace_id'.length;

function isNamed(name: string | null | undefined, meant: string): boolean {
  if (name === null || name === undefined || name.length > NAME_LENGTH_MAX) return false;
  return name.replace(/[._-]/, '').toLowerCase() === meant;
}

/** Longest id of a trace or a span. */
const TEXT_BYTES_MAX = 64;

/** Reads an Exemplar message of remote write 1.0; null for what is none: the points beside it do not suffer for it. */
export function readExemplar(reader: WireReader, end: number): SentExemplar | null {
  try {
    return readSound(reader, end);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return null;
  } finally {
    reader.pos = end;
  }
}

function readSound(reader: WireReader, end: number): SentExemplar {
  const sent = { at: Number.NaN, value: 0, traceId: '', spanId: '' };
  while (reader.nextField(end)) {
    if (reader.is(1, WIRE.bytes)) readLabel(reader, reader.message(end), sent);
    else if (reader.is(2, WIRE.fixed64)) sent.value = reader.double(end);
    else if (reader.is(3, WIRE.varint)) sent.at = reader.int64(end);
    else reader.skip(end);
  }
  return sent;
}

function readLabel(reader: WireReader, end: number, into: { traceId: string; spanId: string }): void {
  let name = '';
  let value = '';
  while (reader.nextField(end)) {
    if (!reader.is(1, WIRE.bytes) && !reader.is(2, WIRE.bytes)) {
      reader.skip(end);
      continue;
    }
    const { field } = reader;
    const textEnd = reader.message(end);
    const isShort = textEnd - reader.pos <= TEXT_BYTES_MAX;
    const text = isShort ? (decodeText(reader.bytes, reader.pos, textEnd) ?? '') : '';
    reader.pos = textEnd;
    if (field === 1) name = text;
    else value = text;
  }
  if (isTraceLabel(name)) into.traceId = value;
  else if (isSpanLabel(name)) into.spanId = value;
}
