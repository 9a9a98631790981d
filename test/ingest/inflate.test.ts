import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';

import { expect, test } from 'vitest';

import { inflate } from '#ingest/inflate.ts';

const limits = { compressedBytesMax: 100_000, inflatedBytesMax: 1_000_000 };
const plain = Buffer.from('{"a":1}'.repeat(100));

test.each([
  ['gzip', gzipSync(plain)],
  ['X-GZIP', gzipSync(plain)],
  ['deflate', deflateSync(plain)],
  ['deflate', deflateRawSync(plain)],
  ['br', brotliCompressSync(plain)],
  ['zstd', zstdCompressSync(plain)],
  ['identity', plain],
  ['', plain],
  [undefined, plain],
  ['gzip, br', brotliCompressSync(gzipSync(plain))],
  ['gzip', plain],
  ['zstd', plain],
])('%s is undone', async (encoding, body) => {
  expect((await inflate(body, encoding, limits)).equals(plain)).toBe(true);
});

const zeros = Buffer.alloc(50_000_000);
const fast = { level: 1 };
const quick = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

test.each([
  ['gzip', gzipSync(zeros, fast).subarray(0, 90_000)],
  ['deflate', deflateSync(zeros, fast).subarray(0, 90_000)],
  ['deflate', deflateRawSync(zeros, fast).subarray(0, 90_000)],
  ['br', brotliCompressSync(zeros, quick)],
  ['zstd', zstdCompressSync(zeros)],
])('a bomb of %s ends as payload_too_large', async (encoding, body) => {
  await expect(inflate(body, encoding, limits)).rejects.toMatchObject({ code: 'payload_too_large' });
});

test('a body over the limit is refused before it is inflated', async () => {
  await expect(inflate(Buffer.alloc(100_001), 'gzip', limits)).rejects.toMatchObject({ code: 'payload_too_large' });
});

test.each([
  ['gzip', gzipSync(plain).subarray(0, 20)],
  ['deflate', Buffer.from('not deflated at all')],
  ['br', Buffer.from('not brotli at all, that is sure')],
  ['zstd', zstdCompressSync(plain).subarray(0, 12)],
])('a broken body of %s is invalid_input', async (encoding, body) => {
  await expect(inflate(body, encoding, limits)).rejects.toMatchObject({ code: 'invalid_input' });
});

test.each(['snappy', 'gzip, gzip, gzip'])('%s is an unsupported encoding', async (encoding) => {
  await expect(inflate(plain, encoding, limits)).rejects.toMatchObject({ code: 'unsupported_media_type' });
});
