import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import zlib from 'node:zlib';

import { expect, test } from 'vitest';

import { readFirstLine } from '#ingest/protocols/sentry/first_line.ts';
import fc, { slowRuns } from '#test/kit/properties.ts';

const DSN = 'https://0123456789abcdef0123456789abcdef@tocsin.example/42';
const ENCODERS = {
  identity: (bytes: Buffer) => bytes,
  gzip: (bytes: Buffer) => zlib.gzipSync(bytes),
  deflate: (bytes: Buffer) => zlib.deflateSync(bytes),
  br: (bytes: Buffer) => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } }),
  zstd: (bytes: Buffer) => zlib.zstdCompressSync(bytes),
};
const ENCODINGS = Object.keys(ENCODERS) as (keyof typeof ENCODERS)[];

const envelopeOf = (header: object, rest: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), rest]);

/** A stream that comes in pieces of so many bytes, each in a turn of its own. */
const inPieces = (bytes: Buffer, size: number): Readable =>
  Readable.from(
    Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size)),
  );

const REST = {
  nothing: Buffer.alloc(0),
  'what is not compressible': Buffer.from(Array.from({ length: 40_000 }, (_, i) => (i * i * 7919) >>> 5)),
  'what comes to a thousand times its size': Buffer.alloc(1024 * 1024),
};
const RESTS = Object.keys(REST) as (keyof typeof REST)[];

test.each(ENCODINGS)(
  'the DSN of a body in %s is read whatever follows, and nothing of the body is lost',
  async (encoding) => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...RESTS),
        fc.constantFrom(1, 511, 513, 16_384, 65_536),
        fc.stringMatching(/^[a-z0-9]{0,900}$/),
        async (rest, size, trace) => {
          const body = ENCODERS[encoding](envelopeOf({ trace, dsn: DSN }, REST[rest]));
          // A large body that comes byte by byte takes long.
          const pieces = body.length < 20_000 ? size : Math.max(size, 511);
          const { dsn, stream } = await readFirstLine(inPieces(body, pieces), encoding);
          expect(dsn).toMatchObject({ publicKey: '0123456789abcdef0123456789abcdef', projectId: '42' });
          expect((await buffer(stream)).equals(body)).toBe(true);
        },
      ),
      { numRuns: slowRuns(40, 5) },
    );
  },
);

test.each(ENCODINGS)('of a body in %s without a first line 16 KiB are read', async (encoding) => {
  const body = ENCODERS[encoding](Buffer.alloc(1024 * 1024, 'a'));
  const { dsn, stream } = await readFirstLine(inPieces(body, 1_000), encoding);
  expect(dsn).toBeNull();
  expect((await buffer(stream)).equals(body)).toBe(true);
});

test.each(['gzip', 'deflate', 'br', 'zstd', 'compress', 'gzip, gzip'])(
  'bytes that are no %s have no DSN',
  async (encoding) => {
    for (const size of [10, 600, 20_000]) {
      const body = Buffer.alloc(size, '{"dsn":"https://0123456789abcdef0123456789abcdef@b/1"} ');
      const { dsn, stream } = await readFirstLine(inPieces(body, 1_000), encoding);
      expect(dsn).toBeNull();
      expect((await buffer(stream)).equals(body)).toBe(true);
    }
  },
);

test('who leaves in the middle of the first line is waited for no longer', async () => {
  const sender = new PassThrough();
  const reading = readFirstLine(sender, 'gzip');
  sender.write(zlib.gzipSync(envelopeOf({ dsn: DSN }, Buffer.alloc(0))).subarray(0, 20));
  sender.destroy();
  expect((await reading).dsn).toBeNull();
});
