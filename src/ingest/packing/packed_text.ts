import { promisify } from 'node:util';
import zlib from 'node:zlib';

const compress = promisify<Buffer, zlib.ZstdOptions, Buffer>(zlib.zstdCompress);
const decompress = promisify<Buffer, zlib.ZstdOptions, Buffer>(zlib.zstdDecompress);

/** Below this, compressing saves less than it costs. */
const COMPRESSED_FROM_BYTES = 1_024;
const FAST = { params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } };

/** Bytes as a text that JSON and every queue store hold without escaping: base64, compressed unless they are few. */
export async function packText(bytes: Buffer): Promise<string> {
  return bytes.length < COMPRESSED_FROM_BYTES
    ? `p${bytes.toString('base64')}`
    : `z${(await compress(bytes, FAST)).toString('base64')}`;
}

/** The inverse of `packText`; trusts its input. */
export async function unpackText(packed: string): Promise<Buffer> {
  const bytes = Buffer.from(packed.slice(1), 'base64');
  return packed.startsWith('z') ? await decompress(bytes, {}) : bytes;
}
