import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** Below this, compressing saves less than it costs. */
const COMPRESSED_FROM_BYTES = 1_024;
const FAST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/**
 * Bytes as a text that JSON and every queue store hold without escaping: base64, compressed unless they are few. At
 * most some milliseconds for the megabyte that a job holds; off the event loop it would take several times as long.
 */
export function packText(bytes: Buffer): string {
  return bytes.length < COMPRESSED_FROM_BYTES
    ? `plain:${bytes.toString('base64')}`
    : `${bytes.length}:${zstdCompressSync(bytes, FAST).toString('base64')}`;
}

/** The inverse of `packText`; trusts its input. */
export function unpackText(packed: string): Buffer {
  const colon = packed.indexOf(':');
  const length = packed.slice(0, colon);
  const bytes = Buffer.from(packed.slice(colon + 1), 'base64');
  return length === 'plain' ? bytes : zstdDecompressSync(bytes, { chunkSize: Number(length) });
}
