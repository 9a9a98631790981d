import { asObject, type JsonObject, parseJson } from '#ingest/protocols/sentry/json.ts';
import { AppError } from '#kernel/errors.ts';

export interface EnvelopeItem {
  /** Type in the client's terms; `unknown` if it gives none. */
  readonly type: string;
  readonly header: JsonObject;
  readonly payload: Buffer;
}

interface Envelope {
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

/** Returns the plain bytes of a body by its Content-Encoding; provided by the caller, bounded. */
export type Inflate = (body: Buffer, contentEncoding: string | undefined) => Promise<Buffer>;

/**
 * The plain bytes of a request, whatever a client did to them. Raven clients name no encoding: they send JSON,
 * gzip, zlib, or base64 of zlib, told apart by the first bytes.
 */
export async function plainBody(body: Buffer, contentEncoding: string | undefined, inflate: Inflate): Promise<Buffer> {
  const declared = await inflate(body, contentEncoding);
  const encoding = hiddenEncoding(declared);
  if (encoding !== null) return inflate(declared, encoding);
  if (declared !== body || startsAsJson(declared)) return declared;
  const decoded = fromBase64(declared);
  return decoded === null ? declared : inflate(decoded, hiddenEncoding(decoded) ?? undefined);
}

function hiddenEncoding(body: Buffer): 'gzip' | 'deflate' | null {
  if (body[0] === 0x1f && body[1] === 0x8b) return 'gzip';
  return body[0] === 0x78 && body.length > 2 && body.readUInt16BE(0) % 31 === 0 ? 'deflate' : null;
}

const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);

/** Returns whether the body starts as JSON, after at most a hundred blanks and a byte order mark. */
function startsAsJson(body: Buffer): boolean {
  const first = body.subarray(0, 100).find((byte) => !BLANKS.has(byte));
  return first === undefined || first === 0x7b || first === 0x5b;
}

/** Decodes base64; null if the first hundred characters are not base64. */
function fromBase64(body: Buffer): Buffer | null {
  const head = body.toString('latin1', 0, 100).trim();
  return /^[A-Za-z0-9+/_\-\r\n]+={0,2}$/.test(head) ? Buffer.from(body.toString('latin1'), 'base64') : null;
}

export function notSentry(what: string, cause?: unknown): AppError {
  return new AppError('invalid_input', `the body is no ${what}`, { cause });
}
