import { Readable, type Transform } from 'node:stream';
import zlib from 'node:zlib';

import { type Dsn, parseDsn } from '#ingest/protocols/sentry/auth.ts';
import { asObject, parseJson } from '#ingest/protocols/sentry/json.ts';

/** Limit on the bytes of an envelope that are read before its key is known, both compressed and inflated. */
const PREFIX_BYTES_MAX = 16 * 1024;
/** A line that is not whole in so many compressed bytes is looked for again in the next number of them. */
const TRIED_AT = [512, 4 * 1024, PREFIX_BYTES_MAX];
const NEWLINE = 0x0a;

/** The DSN in the first line of an envelope, null where there is none, and a stream of the whole envelope. */
interface FirstLine {
  readonly dsn: Dsn | null;
  readonly stream: Readable;
}

/** The first bytes of a stream, and a stream of all of it. */
interface Prefix {
  readonly bytes: Buffer;
  /** Whether nothing follows. */
  readonly isWhole: boolean;
  readonly stream: Readable;
}

/** Reads at most 16 KiB. The given stream must not be used any more. */
export async function readFirstLine(input: Readable, contentEncoding: string | undefined): Promise<FirstLine> {
  const encoding = (contentEncoding ?? 'identity').trim().toLowerCase();
  const { line, stream } = await (encoding === 'identity' ? findLine(input) : findCompressedLine(input, encoding));
  return { dsn: line === null ? null : parseDsn(asObject(parseJson(line))?.['dsn']), stream };
}

async function findLine(input: Readable): Promise<{ line: Buffer | null; stream: Readable }> {
  const { bytes, isWhole, stream } = await readPrefix(
    input,
    (read) => read.length >= PREFIX_BYTES_MAX || read.includes(NEWLINE),
  );
  return { line: firstLine(bytes, isWhole), stream };
}

async function findCompressedLine(
  input: Readable,
  encoding: string,
): Promise<{ line: Buffer | null; stream: Readable }> {
  let stream = input;
  for (const size of TRIED_AT) {
    const prefix = await readPrefix(stream, (read) => read.length >= size);
    ({ stream } = prefix);
    const plain = await inflatePrefix(prefix.bytes, encoding);
    const line = firstLine(plain, prefix.isWhole);
    if (line !== null || prefix.isWhole || plain.length >= PREFIX_BYTES_MAX) return { line, stream };
  }
  return { line: null, stream };
}

/** Reads until the bytes are enough, or the stream ends. */
function readPrefix(stream: Readable, isEnough: (bytes: Buffer) => boolean): Promise<Prefix> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const settle = (prefix: Prefix): void => {
      stream.off('readable', onReadable).off('end', onEnd).off('error', onError).off('close', onEnd);
      resolve(prefix);
    };
    const onReadable = (): void => {
      for (let chunk = stream.read() as Buffer | null; chunk !== null; chunk = stream.read() as Buffer | null) {
        bytes = Buffer.concat([bytes, chunk]);
        if (!isEnough(bytes)) continue;
        // Must happen at once: a stream that was read to its end takes nothing back.
        stream.unshift(bytes);
        return settle({ bytes, isWhole: false, stream });
      }
    };
    const onEnd = (): void => {
      const whole = Object.assign(Readable.from([bytes]), { receivedEncodedLength: bytes.length });
      settle({ bytes, isWhole: true, stream: whole });
    };
    const onError = (error: Error): void => {
      reject(error);
      settle({ bytes, isWhole: true, stream });
    };
    stream.on('readable', onReadable).on('end', onEnd).on('error', onError).on('close', onEnd);
    if (stream.closed) onEnd();
  });
}

/** Returns the first line; null if it is incomplete or too long. */
function firstLine(bytes: Buffer, isWhole: boolean): Buffer | null {
  const end = bytes.subarray(0, PREFIX_BYTES_MAX).indexOf(NEWLINE);
  if (end !== -1) return bytes.subarray(0, end);
  return isWhole && bytes.length <= PREFIX_BYTES_MAX ? bytes : null;
}

/**
 * Inflates the first bytes of a compressed body, up to somewhat over 16 KiB: the rest, which may be a thousand times as
 * much, is not inflated. Empty if they are not compressed in this encoding.
 */
async function inflatePrefix(bytes: Buffer, encoding: string): Promise<Buffer> {
  const inflater = inflaterOf(bytes, encoding);
  let plain = Buffer.alloc(0);
  if (inflater === null) return plain;
  try {
    inflater.end(bytes);
    for await (const chunk of inflater as AsyncIterable<Buffer>) {
      plain = Buffer.concat([plain, chunk]);
      if (plain.length > PREFIX_BYTES_MAX) break;
    }
    return plain;
  } catch {
    return Buffer.alloc(0);
  }
}

function inflaterOf(bytes: Buffer, encoding: string): Transform | null {
  const { constants } = zlib;
  const flushed = { finishFlush: constants.Z_SYNC_FLUSH };
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return zlib.createGunzip(flushed);
    case 'deflate':
      return ((bytes[0] ?? 0) & 0x0f) === 8 ? zlib.createInflate(flushed) : zlib.createInflateRaw(flushed);
    case 'br':
      return zlib.createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH });
    case 'zstd':
      return zlib.createZstdDecompress({ finishFlush: constants.ZSTD_e_flush });
    default:
      return null;
  }
}
