import { Readable } from 'node:stream';
import zlib from 'node:zlib';

import { type Dsn, parseDsn } from '#ingest/protocols/sentry/auth.ts';
import { asObject, parseJson } from '#ingest/protocols/sentry/json.ts';

/** How much of an envelope is read before its key is known. */
const PREFIX_BYTES_MAX = 16 * 1024;
/** A line that is not whole in so many compressed bytes is looked for again in the next number of them. */
const TRIED_AT = [512, 4 * 1024, PREFIX_BYTES_MAX];
const INFLATED_BYTES_MAX = 256 * 1024;
const NEWLINE = 0x0a;

/** The DSN in the first line of an envelope, null where there is none, and a stream of the whole envelope. */
interface FirstLine {
  readonly dsn: Dsn | null;
  readonly stream: Readable;
}

/** Reads at most 16 KiB. The given stream must not be used any more. */
export async function readFirstLine(given: Readable, contentEncoding: string | undefined): Promise<FirstLine> {
  const encoding = (contentEncoding ?? 'identity').trim().toLowerCase();
  let isTriedAt = 0;
  let line: Buffer | null = null;
  const stream = await readPrefix(given, (bytes, isWhole) => {
    if (encoding === 'identity') line = firstLine(bytes, isWhole);
    else if (isWhole || bytes.length >= (TRIED_AT[isTriedAt] ?? Infinity)) {
      isTriedAt += 1;
      const plain = inflatePrefix(bytes, encoding);
      line = plain === null ? null : firstLine(plain, isWhole);
    }
    return line !== null;
  });
  return { dsn: line === null ? null : parseDsn(asObject(parseJson(line))?.['dsn']), stream };
}

/** Reads until the bytes are enough, the stream ends, or the limit is reached. Returns a stream of everything. */
function readPrefix(stream: Readable, isEnough: (bytes: Buffer, isWhole: boolean) => boolean): Promise<Readable> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const settle = (whole: Readable): void => {
      stream.off('readable', onReadable).off('end', onEnd).off('error', onError).off('close', onEnd);
      resolve(whole);
    };
    const onReadable = (): void => {
      for (let chunk = stream.read() as Buffer | null; chunk !== null; chunk = stream.read() as Buffer | null) {
        bytes = Buffer.concat([bytes, chunk]);
        if (!isEnough(bytes, false) && bytes.length < PREFIX_BYTES_MAX) continue;
        // At once: a stream that was read to its end takes nothing back.
        stream.unshift(bytes);
        return settle(stream);
      }
    };
    const onEnd = (): void => {
      isEnough(bytes, true);
      settle(Object.assign(Readable.from([bytes]), { receivedEncodedLength: bytes.length }));
    };
    const onError = (error: Error): void => {
      reject(error);
      settle(stream);
    };
    stream.on('readable', onReadable).on('end', onEnd).on('error', onError).on('close', onEnd);
  });
}

/** Null if the line is incomplete or too long. */
function firstLine(bytes: Buffer, isWhole: boolean): Buffer | null {
  const end = bytes.subarray(0, PREFIX_BYTES_MAX).indexOf(NEWLINE);
  if (end !== -1) return bytes.subarray(0, end);
  return isWhole && bytes.length <= PREFIX_BYTES_MAX ? bytes : null;
}

/** What the first bytes of a compressed body come to. Null where they come to too much, or to nothing. */
function inflatePrefix(bytes: Buffer, encoding: string): Buffer | null {
  const { constants } = zlib;
  const bounds = { maxOutputLength: INFLATED_BYTES_MAX };
  const flushed = { ...bounds, finishFlush: constants.Z_SYNC_FLUSH };
  try {
    switch (encoding) {
      case 'gzip':
      case 'x-gzip':
        return zlib.gunzipSync(bytes, flushed);
      case 'deflate':
        return ((bytes[0] ?? 0) & 0x0f) === 8 ? zlib.inflateSync(bytes, flushed) : zlib.inflateRawSync(bytes, flushed);
      case 'br':
        return zlib.brotliDecompressSync(bytes, { ...bounds, finishFlush: constants.BROTLI_OPERATION_FLUSH });
      case 'zstd':
        return zlib.zstdDecompressSync(bytes, { ...bounds, finishFlush: constants.ZSTD_e_flush });
      default:
        return null;
    }
  } catch {
    return null;
  }
}
