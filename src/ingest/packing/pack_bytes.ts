import { constants, zstdCompressSync, zstdDecompressSync, type ZstdOptions } from 'node:zlib';

import { runZlibSync } from '#ingest/zlib_sync.ts';

/** Size below which compressing saves less than it costs. */
const COMPRESSED_FROM_BYTES = 1_024;
const FAST: ZstdOptions = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Size of the length prefix: the length of the bytes once unpacked, or 0 if they follow uncompressed. */
const LENGTH_BYTES = 4;

/** A worker of an earlier release cannot read it: the job fails here, and is kept and tried again until a newer one does. */
export const NEWER_FORMAT = 'a newer release has packed this job; it waits for a worker of that release';

/**
 * Compressed unless they are few. At most some milliseconds for the megabyte that a job holds; off the event loop it
 * would take several times as long.
 */
export function packBytes(bytes: Buffer): Buffer {
  const isCompressed = bytes.length >= COMPRESSED_FROM_BYTES;
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(isCompressed ? bytes.length : 0);
  return Buffer.concat([length, isCompressed ? runZlibSync(zstdCompressSync, bytes, FAST) : bytes]);
}

/** The inverse of `packBytes`; trusts its input. */
export function unpackBytes(packed: Buffer): Buffer {
  const length = packed.readUInt32BE();
  const bytes = packed.subarray(LENGTH_BYTES);
  // One byte more than needed: zlib takes as much memory again once its output is full.
  return length === 0 ? bytes : runZlibSync(zstdDecompressSync, bytes, { chunkSize: length + 1 });
}

/** Returns the length of the bytes once unpacked. */
export function unpackedLength(packed: Buffer): number {
  return packed.readUInt32BE() || packed.length - LENGTH_BYTES;
}
