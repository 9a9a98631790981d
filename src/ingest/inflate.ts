import type { Transform } from 'node:stream';
import zlib from 'node:zlib';

import { nextTurn } from '#kernel/cooperative_task.ts';
import { AppError } from '#kernel/errors.ts';

export interface InflateLimits {
  readonly compressedBytesMax: number;
  /** Limit on the inflated body; inflating stops there, so a bomb costs no more than an honest body of that size. */
  readonly inflatedBytesMax: number;
  /** Called with the number of inflated bytes, also for a body that is refused. */
  readonly count?: (bytes: number) => void;
}

interface Bounds {
  readonly maxOutputLength: number;
}

/** Size of the chunks to inflate; each costs a round trip to another thread. */
const CHUNK_BYTES = 256 * 1024;
const CHUNKED = { chunkSize: CHUNK_BYTES };

interface Decoder {
  /** Decodes off the event loop. */
  readonly open: () => Transform;
  readonly decodeNow: (body: Buffer, bounds: Bounds) => Buffer;
}

const gunzip: Decoder = { open: () => zlib.createGunzip(CHUNKED), decodeNow: zlib.gunzipSync };
const inflateZlib: Decoder = { open: () => zlib.createInflate(CHUNKED), decodeNow: zlib.inflateSync };
const inflateRaw: Decoder = { open: () => zlib.createInflateRaw(CHUNKED), decodeNow: zlib.inflateRawSync };
const brotli: Decoder = { open: () => zlib.createBrotliDecompress(CHUNKED), decodeNow: zlib.brotliDecompressSync };
const zstd: Decoder = { open: () => zlib.createZstdDecompress(CHUNKED), decodeNow: zlib.zstdDecompressSync };

/**
 * A small body that stays small is undone at once, in less than a millisecond: handing it to another thread and
 * waiting for a processor there costs more. One that turns out large goes the other way after all.
 */
const AT_ONCE = { compressedBytesMax: 16 * 1024, inflatedBytesMax: 256 * 1024 };

/** Encodings may be stacked (`gzip, br`), which no honest sender does more than once. */
const ENCODINGS_MAX = 2;

/**
 * The plain bytes of a request's body, by its Content-Encoding: gzip, deflate (with the zlib header or without), br,
 * zstd, identity or none. Works off the event loop, but for small bodies. A body that a proxy has already inflated is
 * returned as it is.
 *
 * Throws AppError `payload_too_large`, `unsupported_media_type` (unknown encoding) or `invalid_input` (broken stream).
 */
export async function inflate(
  body: Buffer,
  contentEncoding: string | undefined,
  limits: InflateLimits,
): Promise<Buffer> {
  if (body.length > limits.compressedBytesMax) throw tooLarge('body', limits.compressedBytesMax);
  const encodings = (contentEncoding ?? '')
    .toLowerCase()
    .split(',')
    .map((encoding) => encoding.trim());
  const applied = encodings.filter((encoding) => encoding !== '' && encoding !== 'identity').toReversed();
  if (applied.length > ENCODINGS_MAX) throw new AppError('unsupported_media_type', 'too many content encodings');
  let plain = body;
  for (const encoding of applied) {
    plain = await (encoding === 'zstd'
      ? decodeFrames(plain, limits)
      : decode(plain, decoderFor(encoding, plain), limits));
  }
  if (plain.length > limits.inflatedBytesMax) throw tooLarge('inflated body', limits.inflatedBytesMax);
  return plain;
}

function decoderFor(encoding: string, body: Buffer): Decoder | null {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return isGzip(body) ? gunzip : null;
    case 'deflate':
      return isZlib(body) ? inflateZlib : inflateRaw;
    case 'br':
      return brotli;
    default:
      throw new AppError('unsupported_media_type', 'content encoding must be gzip, deflate, br, zstd or identity');
  }
}

async function decode(body: Buffer, decoder: Decoder | null, limits: InflateLimits): Promise<Buffer> {
  if (decoder === null || body.length === 0) return body;
  const { inflatedBytesMax } = limits;
  try {
    const atOnce = body.length <= AT_ONCE.compressedBytesMax ? decodeSmall(body, decoder, inflatedBytesMax) : null;
    if (atOnce === null) return await decodeLarge(body, decoder, limits);
    limits.count?.(atOnce.length);
    return atOnce;
  } catch (error) {
    if (error instanceof AppError) throw error;
    if (isCode(error, 'ERR_BUFFER_TOO_LARGE')) throw tooLarge('inflated body', inflatedBytesMax);
    throw new AppError('invalid_input', 'the body does not match its content encoding', { cause: error });
  }
}

/** Decodes the frames of a body one after the other. A body that a proxy has already inflated is returned as it is. */
async function decodeFrames(body: Buffer, limits: InflateLimits): Promise<Buffer> {
  const parts: Buffer[] = [];
  let left = limits.inflatedBytesMax;
  let turnAt = left - AT_ONCE.inflatedBytesMax;
  const frames = zstdFrames(body) ?? [];
  if (frames.length > FRAMES_MAX)
    throw new AppError('invalid_input', `the body has more than ${FRAMES_MAX} frames of zstd`);
  for (const frame of frames) {
    // A frame of nothing may follow on a full body; one byte more is refused with the whole.
    const part = await decode(frame, zstd, { ...limits, inflatedBytesMax: Math.max(1, left) }).catch(
      (error: unknown) => {
        const isTooLarge = error instanceof AppError && error.code === 'payload_too_large';
        throw isTooLarge ? tooLarge('inflated body', limits.inflatedBytesMax) : error;
      },
    );
    parts.push(part);
    left -= part.length;
    if (left < 0) throw tooLarge('inflated body', limits.inflatedBytesMax);
    if (left > turnAt) continue;
    await nextTurn();
    turnAt = left - AT_ONCE.inflatedBytesMax;
  }
  return parts.length > 1 ? Buffer.concat(parts) : (parts[0] ?? body);
}

/** Bytes copied in one go, which takes some milliseconds, before other work gets its turn. */
const COPIED_AT_ONCE = 8 * 1024 * 1024;

/** Decodes a large body; stops once the result is too large. */
async function decodeLarge(
  body: Buffer,
  decoder: Decoder,
  { inflatedBytesMax, count }: InflateLimits,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  const stream = decoder.open();
  stream.end(body);
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    length += chunk.length;
    count?.(chunk.length);
    if (length > inflatedBytesMax) throw tooLarge('inflated body', inflatedBytesMax);
    chunks.push(chunk);
  }
  const plain = Buffer.allocUnsafeSlow(length);
  let at = 0;
  let restAt = COPIED_AT_ONCE;
  for (const chunk of chunks) {
    at += chunk.copy(plain, at);
    if (at < restAt) continue;
    await nextTurn();
    restAt = at + COPIED_AT_ONCE;
  }
  return plain;
}

/** Inflates a small body; null for one that does not stay small. */
function decodeSmall(body: Buffer, decoder: Decoder, inflatedBytesMax: number): Buffer | null {
  const maxOutputLength = Math.min(AT_ONCE.inflatedBytesMax, inflatedBytesMax);
  try {
    return runZlibSync(decoder.decodeNow, body, { maxOutputLength });
  } catch (error) {
    if (isCode(error, 'ERR_BUFFER_TOO_LARGE')) return null;
    throw error;
  }
}

function isGzip(body: Buffer): boolean {
  return body[0] === 0x1f && body[1] === 0x8b;
}

/** RFC 1950: method 8 in the low half of the first byte, and both bytes a multiple of 31. */
function isZlib(body: Buffer): boolean {
  const [first = 0, second = 0] = body;
  return (first & 0x0f) === 8 && first >> 4 <= 7 && ((first << 8) | second) % 31 === 0;
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

function tooLarge(what: string, bytesMax: number): AppError {
  return new AppError('payload_too_large', `the ${what} is larger than ${bytesMax} bytes`);
}

const ZSTD_FRAME = 0xfd2fb528;
/** Frames of another content, which a reader passes by: sixteen magic numbers. */
const SKIPPABLE = 0x184d2a50;
/** Limit on the frames of a body; writers use one, or one for each thread. */
const FRAMES_MAX = 256;
const [DICTIONARY_BYTES, SIZE_BYTES] = [
  [0, 1, 2, 4],
  [0, 2, 4, 8],
] as const;
const RUN_BLOCK = 1;

/**
 * Splits a body of Zstandard (RFC 8878) into its frames: Node's decoder stops silently after the first. Null for a body that
 * is none. What is no whole frame is left to the decoder, at the end; of too many frames one more than the limit is returned.
 */
function zstdFrames(body: Buffer): readonly Buffer[] | null {
  if (magicAt(body, 0) === null) return null;
  const frames: Buffer[] = [];
  let at = 0;
  while (at < body.length && frames.length <= FRAMES_MAX) {
    const magic = magicAt(body, at);
    const end = magic === ZSTD_FRAME ? endOfFrame(body, at) : endOfSkippable(body, at, magic);
    if (magic !== SKIPPABLE || end === body.length) frames.push(body.subarray(at, end));
    at = end;
  }
  return frames;
}

function magicAt(body: Buffer, at: number): typeof ZSTD_FRAME | typeof SKIPPABLE | null {
  if (body.length < at + 8) return null;
  const magic = body.readUInt32LE(at);
  if (magic === ZSTD_FRAME) return ZSTD_FRAME;
  return magic - (magic % 16) === SKIPPABLE ? SKIPPABLE : null;
}

function endOfSkippable(body: Buffer, at: number, magic: number | null): number {
  return magic === SKIPPABLE ? Math.min(body.length, at + 8 + body.readUInt32LE(at + 4)) : body.length;
}

function endOfFrame(body: Buffer, start: number): number {
  const descriptor = body[start + 4] ?? 0;
  const isSingle = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >> 6;
  const sizeBytes = sizeFlag === 0 && isSingle ? 1 : (SIZE_BYTES[sizeFlag] ?? 0);
  let at = start + 5 + (isSingle ? 0 : 1) + (DICTIONARY_BYTES[descriptor & 3] ?? 0) + sizeBytes;
  for (let isLast = false; !isLast;) {
    if (at + 3 > body.length) return body.length;
    const header = body.readUIntLE(at, 3);
    isLast = (header & 1) === 1;
    at += 3 + (((header >> 1) & 3) === RUN_BLOCK ? 1 : header >> 3);
  }
  return Math.min(body.length, at + ((descriptor & 4) === 0 ? 0 : 4));
}

/** Return value of zlib's synchronous functions with the option `info`. */
interface ResultWithEngine {
  readonly buffer: Buffer;
  readonly engine: { _outBuffer: Buffer | null };
}

/**
 * Runs one of zlib's synchronous functions and detaches the output buffer from its engine. Otherwise the engine keeps the
 * result alive until the next full garbage collection, and that memory brings the collection forward: at a thousand small
 * bodies a second there was one every five seconds, which stopped the process for 100 ms each time.
 */
export function runZlibSync<Options extends object>(
  work: (bytes: Buffer, options: Options) => Buffer,
  bytes: Buffer,
  options: Options,
): Buffer {
  const { buffer, engine } = work(bytes, { ...options, info: true }) as unknown as ResultWithEngine;
  engine._outBuffer = null;
  return buffer;
}
