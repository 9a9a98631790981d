import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';

import { expect, test } from 'vitest';

import { inflate } from '#ingest/inflate.ts';

const limits = { compressedBytesMax: 100_000, inflatedBytesMax: 1_000_000 };
/** A frame of Zstandard that readers pass by. */
const skippable = Buffer.from([0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
const plain = Buffer.from('{"a":1}'.repeat(100));

test.each([
  ['gzip', gzipSync(plain)],
  ['X-GZIP', gzipSync(plain)],
  ['deflate', deflateSync(plain)],
  ['deflate', deflateRawSync(plain)],
  ['br', brotliCompressSync(plain)],
  ['zstd', zstdCompressSync(plain)],
  ['zstd', Buffer.concat([zstdCompressSync(plain.subarray(0, 10)), zstdCompressSync(plain.subarray(10))])],
  ['zstd', Buffer.concat([skippable, zstdCompressSync(plain), skippable])],
  ['gzip', Buffer.concat([gzipSync(plain.subarray(0, 10)), gzipSync(plain.subarray(10))])],
  ['gzip, gzip', gzipSync(gzipSync(plain))],
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
const manyFrames = Buffer.concat(Array.from({ length: 20 }, () => zstdCompressSync(zeros.subarray(0, 60_000))));
const quick = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

test.each([
  ['gzip', gzipSync(zeros, fast).subarray(0, 90_000)],
  ['deflate', deflateSync(zeros, fast).subarray(0, 90_000)],
  ['deflate', deflateRawSync(zeros, fast).subarray(0, 90_000)],
  ['br', brotliCompressSync(zeros, quick)],
  ['zstd', zstdCompressSync(zeros)],
  ['zstd', manyFrames],
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
  ['zstd', Buffer.concat([zstdCompressSync(plain), Buffer.from('{"and":"more"}')])],
  ['zstd', Buffer.concat(Array.from({ length: 300 }, () => zstdCompressSync(plain)))],
])('a broken body of %s is invalid_input', async (encoding, body) => {
  await expect(inflate(body, encoding, limits)).rejects.toMatchObject({ code: 'invalid_input' });
});

test.each(['snappy', 'gzip, gzip, gzip'])('%s is an unsupported encoding', async (encoding) => {
  await expect(inflate(plain, encoding, limits)).rejects.toMatchObject({ code: 'unsupported_media_type' });
});

test('frames of Zstandard are told apart by their own headers, whatever the size and the level', async () => {
  for (const size of [0, 1, 255, 256, 70_000, 300_000]) {
    const content = Buffer.from(Array.from({ length: size }, (_, at) => (at * 7919) % (size > 256 ? 251 : 3)));
    for (const level of [1, 19]) {
      for (const checksum of [0, 1]) {
        const params = { [constants.ZSTD_c_compressionLevel]: level, [constants.ZSTD_c_checksumFlag]: checksum };
        const frame = zstdCompressSync(content, { params });
        const twice = await inflate(Buffer.concat([frame, frame]), 'zstd', { ...limits, compressedBytesMax: 700_000 });
        expect(twice.equals(Buffer.concat([content, content]))).toBe(true);
      }
    }
  }
});

test('many frames that are small by themselves leave turns to other work', async () => {
  const frame = zstdCompressSync(Buffer.alloc(200_000));
  let turns = 0;
  const count = (): void => {
    turns += 1;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  const body = Buffer.concat(Array.from({ length: 40 }, () => frame));
  const inflated = await inflate(body, 'zstd', { compressedBytesMax: 100_000, inflatedBytesMax: 8_000_000 });
  clearImmediate(timer);
  expect(inflated).toHaveLength(8_000_000);
  expect(turns).toBeGreaterThan(16);
});

test('frames fill a body up to its limit, and what is more is refused with the limit of the whole', async () => {
  const frames = (...sizes: number[]) => Buffer.concat(sizes.map((size) => zstdCompressSync(Buffer.alloc(size))));
  const bounds = { compressedBytesMax: 1_000, inflatedBytesMax: 1_000 };
  expect(await inflate(frames(400, 600, 0), 'zstd', bounds)).toHaveLength(1_000);
  for (const body of [frames(1_000, 1), frames(400, 601), frames(999, 2)]) {
    await expect(inflate(body, 'zstd', bounds)).rejects.toMatchObject({
      code: 'payload_too_large',
      message: 'the inflated body is larger than 1000 bytes',
    });
  }
});
