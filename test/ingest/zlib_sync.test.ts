import zlib, { type ZlibOptions } from 'node:zlib';

import { expect, test } from 'vitest';

import { runZlibSync } from '#ingest/inflate.ts';

const TEXT = Buffer.from('out of beans, '.repeat(1_000));

test('the output equals that of the functions of zlib', () => {
  for (const [compress, inflate] of [
    [zlib.gzipSync, zlib.gunzipSync],
    [zlib.zstdCompressSync, zlib.zstdDecompressSync],
    [zlib.brotliCompressSync, zlib.brotliDecompressSync],
  ] as const) {
    const packed = runZlibSync(compress, TEXT, {});
    expect(inflate(packed)).toEqual(TEXT);
    expect(runZlibSync(inflate, packed, { chunkSize: TEXT.length })).toEqual(TEXT);
  }
  expect(() => runZlibSync(zlib.gunzipSync, TEXT, {})).toThrow('incorrect header check');
});

test('its engine holds no memory afterwards, as it would', () => {
  const engines: { _outBuffer: Buffer | null }[] = [];
  const work = (bytes: Buffer, options: ZlibOptions): Buffer => {
    const done = zlib.gzipSync(bytes, options);
    const { engine } = done as unknown as { engine: { _outBuffer: Buffer | null } };
    expect(engine._outBuffer).toBeInstanceOf(Buffer);
    engines.push(engine);
    return done;
  };
  runZlibSync(work, TEXT, {});
  expect(engines.map(({ _outBuffer }) => _outBuffer)).toEqual([null]);
});
