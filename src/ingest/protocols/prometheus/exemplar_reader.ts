import type { SentExemplar } from '#ingest/admission/exemplars.ts';
import { decodeText } from '#ingest/protocols/protobuf/decode_text.ts';
import { WIRE, type WireReader } from '#ingest/protocols/protobuf/wire_reader.ts';
import { AppError } from '#kernel/errors.ts';

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
