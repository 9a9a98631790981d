import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

import { beforeAll, describe, expect, test } from 'vitest';

import { ArchiveWriter, ChunkWriter, type Manifest, readArchive, readChunks } from '#entry/backup/archive.ts';
import fc, { slowRuns } from '#test/kit/properties.ts';

const KEY = 'a key that is long enough';
const keys = [undefined, KEY] as const;

async function sealed(parts: readonly Buffer[], key: string | undefined): Promise<Buffer> {
  const sink = new PassThrough();
  const written = buffer(sink);
  const writer = await ChunkWriter.begin(sink, key);
  for (const part of parts) await writer.write(part);
  await writer.end();
  sink.end();
  return await written;
}

const opened = async (bytes: Buffer, key: string | undefined): Promise<Buffer> =>
  await buffer(readChunks(Readable.from([bytes], { objectMode: false }), key));

describe.each(keys)('an archive with the key %s', (key) => {
  const content = Buffer.concat([Buffer.alloc(1_200_000, 'rows of a table '), Buffer.from('the end')]);
  let whole: Buffer;
  // A key costs much processor time, each time that it is used.
  beforeAll(async () => {
    whole = await sealed([content.subarray(0, 1_200_000), content.subarray(1_200_000)], key);
  });

  test('is read as it was written, however it was written', async () => {
    const numRuns = key === undefined ? slowRuns(50, 5) : 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 3_000 }), { maxLength: 6 }), async (parts) => {
        const buffers = parts.map((part) => Buffer.from(part));
        expect(await opened(await sealed(buffers, key), key)).toEqual(Buffer.concat(buffers));
      }),
      { numRuns },
    );
    expect((await opened(whole, key)).equals(content)).toBe(true);
  });

  test('is refused when a byte is changed, missing or added, wherever that is', async () => {
    const places = key === undefined ? [30, 1_000, whole.length - 30] : [1_000];
    for (const place of places) {
      const changed = Buffer.from(whole);
      changed.writeUInt8(changed.readUInt8(place) ^ 1, place);
      await expect(opened(changed, key), `changed at ${place}`).rejects.toThrow(/damaged|not a backup|is not the key/);
      // What is cut ends too early with any key, as without one.
      if (key !== undefined) continue;
      await expect(opened(whole.subarray(0, place), key), `cut at ${place}`).rejects.toThrow(/damaged|not a backup/);
    }
    if (key !== undefined) return;
    await expect(opened(Buffer.concat([whole, Buffer.from('x')]), key)).rejects.toThrow('added to its end');
  });
});

test('an encrypted archive tells a missing and a wrong key apart, and shows nothing of what is in it', async () => {
  const bytes = await sealed([Buffer.from('nobody may read this')], KEY);
  expect(bytes.includes('nobody may read this')).toBe(false);
  await expect(opened(bytes, undefined)).rejects.toThrow('this backup is encrypted: set BACKUP_KEY');
  await expect(opened(bytes, 'another key that is long')).rejects.toThrow('BACKUP_KEY is not the key of this backup');
});

test('an archive of another format names it, and anything else is no backup', async () => {
  await expect(opened(Buffer.from('{"tocsinBackup":2}\n'), undefined)).rejects.toThrow('has the format 2');
  for (const text of ['', 'hello', '{}\n', 'x'.repeat(10_000)]) {
    await expect(opened(Buffer.from(text), undefined)).rejects.toThrow('this is not a backup of Tocsin');
  }
});

const MANIFEST: Manifest = {
  kind: 'manifest',
  id: 'job_1',
  version: 'tocsin 1.0.0',
  queue: 'postgres',
  postgresMigrations: [],
  clickhouseMigrations: [],
  secretFingerprint: '',
};

test('entries come back in order, also when their content is passed over', async () => {
  const sink = new PassThrough();
  const written = buffer(sink);
  const archive = await ArchiveWriter.begin(sink, undefined, MANIFEST);
  const rows = Buffer.alloc(3_000_000, 'a row\n');
  await archive.add({ kind: 'postgres_table', table: 'a', columns: ['id'] }, [rows]);
  await archive.add({ kind: 'postgres_table', table: 'b', columns: ['id'] }, [Buffer.from('x'), Buffer.from('y')]);
  await archive.end();
  sink.end();
  const bytes = await written;
  const read = () => readArchive(Readable.from([bytes], { objectMode: false }), undefined);
  const kinds: string[] = [];
  for await (const { entry } of read()) kinds.push(entry.kind);
  expect(kinds).toEqual(['manifest', 'postgres_table', 'postgres_table']);
  const contents: number[] = [];
  for await (const { content } of read()) contents.push((await buffer(content())).length);
  expect(contents).toEqual([0, rows.length, 2]);
});
