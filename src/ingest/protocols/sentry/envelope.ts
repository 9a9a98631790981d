import { notSentry } from '#ingest/protocols/sentry/body.ts';
import { asObject, type JsonObject, parseJson } from '#ingest/protocols/sentry/json.ts';

export interface EnvelopeItem {
  /** Type in the client's terms; `unknown` if it gives none. */
  readonly type: string;
  readonly header: JsonObject;
  readonly payload: Buffer;
}

export interface Envelope {
  readonly header: Readonly<Record<string, unknown>>;
  readonly items: readonly EnvelopeItem[];
  /** The envelope holds more items than are looked at. */
  readonly isCut: boolean;
}

/** Limit on the items of an envelope: real ones hold one to three, and some attachments. */
const ITEMS_MAX = 100;
const HEADER_BYTES_MAX = 16 * 1024;
/** A type, a length, and what a file is called. */
const ITEM_HEADER_BYTES_MAX = 2 * 1024;
const NEWLINE = 0x0a;

/**
 * Splits an envelope: a header line, then for each item a header line and a payload, which is `length` bytes long or
 * ends at the newline. Tolerates blank lines, lines that are no header, a `length` that lies, and an end in the middle
 * of an item. Throws `invalid_input` only if the first line is no envelope's header.
 */
export function readEnvelope(body: Buffer): Envelope {
  const firstEnd = lineEnd(body, 0);
  const header = headerOf(body.subarray(0, firstEnd));
  if (header === null) throw notSentry('envelope: its first line must be a JSON object');
  const items: EnvelopeItem[] = [];
  let at = firstEnd + 1;
  let lines = 0;
  for (; at < body.length && lines < ITEMS_MAX; lines += 1) {
    const end = lineEnd(body, at);
    const itemHeader = headerOf(body.subarray(at, end), ITEM_HEADER_BYTES_MAX);
    at = end + 1;
    if (itemHeader === null) continue;
    const payloadEnd = endOfPayload(body, at, itemHeader['length']);
    const type = itemHeader['type'];
    items.push({
      type: typeof type === 'string' ? type.slice(0, 50) : 'unknown',
      header: itemHeader,
      payload: body.subarray(at, payloadEnd),
    });
    at = payloadEnd + 1;
  }
  return { header, items, isCut: at < body.length };
}

function headerOf(line: Buffer, bytesMax = HEADER_BYTES_MAX): Readonly<Record<string, unknown>> | null {
  return line.length > bytesMax ? null : asObject(parseJson(line));
}

/** A `length` is believed if the item then ends at a newline or at the end of the body. */
function endOfPayload(body: Buffer, start: number, length: unknown): number {
  if (typeof length === 'number' && Number.isInteger(length) && length >= 0) {
    const end = start + length;
    if (end >= body.length) return body.length;
    if (body[end] === NEWLINE || (body[end] === 0x0d && body[end + 1] === NEWLINE)) return end;
  }
  return lineEnd(body, start);
}

function lineEnd(body: Buffer, from: number): number {
  const end = body.indexOf(NEWLINE, from);
  return end === -1 ? body.length : end;
}
