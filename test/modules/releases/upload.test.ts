import { createHash } from 'node:crypto';
import zlib from 'node:zlib';

import { afterAll, expect, test } from 'vitest';

import { asId } from '#kernel/ids.ts';
import { silentLog } from '#kernel/log.ts';
import { assembleBundle, type UploadLimits } from '#modules/releases/source_maps/assemble_bundle.ts';
import { AssemblyThread } from '#modules/releases/source_maps/assembly_thread.ts';
import { enforceRetention } from '#workers/enforce_retention.ts';
import { purge } from '#workers/purge_service.ts';
import { fileWorld } from '#test/kit/world.ts';

const w = await fileWorld();
await w.given.service({ name: 'Web shop' });
afterAll(() => thread.close());

const thread = new AssemblyThread();
/** Number of files of uploads that were read. */
let filesRead = 0;
const counted: Pick<AssemblyThread, 'ask'> = {
  async ask(orgId, question) {
    filesRead += 1;
    return await thread.ask(orgId, question);
  },
};

const sha1 = (bytes: Buffer): string => createHash('sha1').update(bytes).digest('hex');

async function send(url: string, payload: object | FormData, key = w.orgKey) {
  const body = payload instanceof FormData ? new Response(payload) : null;
  const response = await w.app.inject({
    method: 'POST',
    url: `/api/0/organizations/acme/${url}`,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': body?.headers.get('content-type') ?? 'application/json',
    },
    payload: body === null ? JSON.stringify(payload) : Buffer.from(await body.arrayBuffer()),
  });
  return { status: response.statusCode, body: response.json() };
}

async function sendChunk(bytes: Buffer, { name = sha1(bytes), field = 'file', key = w.orgKey } = {}) {
  const form = new FormData();
  form.append(field, new Blob([new Uint8Array(bytes)]), name);
  return await send('chunk-upload/', form, key);
}

function assemble(bytes: Buffer, key = w.orgKey, named: object = { projects: ['web-shop'], version: '1' }) {
  const checksum = sha1(bytes);
  return send('artifactbundle/assemble/', { checksum, chunks: [checksum], ...named }, key);
}

/** Uploads the bytes, has them read, and returns how that went. */
async function upload(bytes: Buffer, sourceMapBytesMax = 1e9, limits: Partial<UploadLimits> = {}) {
  await sendChunk(bytes);
  expect((await assemble(bytes)).body).toEqual(CREATED);
  await read(bytes, sourceMapBytesMax, limits);
  return (await assemble(bytes)).body;
}

const CREATED = { state: 'created', missingChunks: [], detail: null };

/** Has the uploads of the bytes read, each twice, the oldest first. */
async function read(bytes: Buffer, sourceMapBytesMax = 1e9, limits: Partial<UploadLimits> = {}) {
  const bundles = await w.context.db.sql.rows<{ id: string }>(
    `select id from artifact_bundles where checksum = $1 and state = 'waiting' order by created_at, id`,
    [sha1(bytes)],
  );
  const { db, clock } = w.context;
  const uploadLimits = { uploadUnpackedMegabytes: 4_096, uploadSeconds: 120, ...limits };
  const runtime = { db, clock, onOutbox: () => {}, log: silentLog, sourceMapBytesMax, uploadLimits };
  for (const { id } of bundles) {
    await assembleBundle(runtime, { thread: counted }, w.orgId, id);
    await assembleBundle(runtime, { thread: counted }, w.orgId, id);
  }
}

/** An archive whose files are stored as they are, but for what is said of one. */
function zip(files: Readonly<Record<string, string | { readonly deflated: Buffer; readonly bytes: number }>>): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [name, file] of Object.entries(files)) {
    const [content, bytes, method] =
      typeof file === 'string' ? [Buffer.from(file), Buffer.byteLength(file), 0] : [file.deflated, file.bytes, 8];
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(method, 10);
    entry.writeUInt32LE(content.length, 20);
    entry.writeUInt32LE(bytes, 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(at, 42);
    parts.push(local, Buffer.from(name), content);
    directory.push(entry, Buffer.from(name));
    at += 30 + name.length + content.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Object.keys(files).length, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, ...directory, end]);
}

function bundle(map: string | { deflated: Buffer; bytes: number }): Buffer {
  const files = {
    'app.js': { type: 'minified_source', url: '~/app.js', headers: { Sourcemap: 'app.js.map' } },
    'app.js.map': { type: 'source_map', url: '~/app.js.map' },
  };
  return zip({ 'manifest.json': JSON.stringify({ files }), 'app.js': 'pay()', 'app.js.map': map });
}

/** An archive whose code names its map by a debug id. */
function withDebugId(map: string): Buffer {
  const headers = { Sourcemap: 'app.js.map', 'debug-id': '11111111-2222-4333-8444-555555555555' };
  const files = {
    'app.js': { type: 'minified_source', url: '~/app.js', headers },
    'app.js.map': { type: 'source_map', url: '~/app.js.map', headers: { 'debug-id': headers['debug-id'] } },
  };
  return zip({ 'manifest.json': JSON.stringify({ files }), 'app.js': 'pay()', 'app.js.map': map });
}

/** Its end says that the directory is somewhere else. */
function withLies(archive: Buffer): Buffer {
  archive.subarray(-6, -2).fill(0x77);
  return archive;
}

function mapOf(content: string): string {
  return JSON.stringify({ version: 3, sources: ['pay.js'], sourcesContent: [content], names: [], mappings: 'AAAA' });
}

async function retain(sourceMapDays = 90): Promise<void> {
  await enforceRetention({
    db: w.context.db,
    clock: w.clock,
    sourceMapDays,
    expiredRows: {
      remove: async () => {},
      removeNames: async () => {},
      removeOrigins: async () => {},
      removeRollups: async () => {},
    },
  });
}

test('parts that are missing are named, and a part has to be what its checksum says', async () => {
  const bytes = bundle(mapOf('first'));
  expect((await assemble(bytes)).body).toEqual({ state: 'not_found', missingChunks: [sha1(bytes)], detail: null });
  expect(await sendChunk(bytes, { name: sha1(Buffer.from('other')) })).toMatchObject({ status: 400 });
  expect(await sendChunk(zlib.gzipSync(Buffer.alloc(3_000_000)), { field: 'file_gzip' })).toMatchObject({
    status: 413,
  });
  expect(await upload(bytes)).toEqual({ state: 'ok', missingChunks: [], detail: null });
  const [{ count } = { count: -1 }] = await w.context.db.sql.rows<{ count: number }>(
    'select count(*)::int as count from upload_chunks',
    [],
  );
  expect(count).toBe(0);
});

test.each([
  ['no archive', () => Buffer.from('hello'), /not a zip archive/],
  ['an archive without manifest', () => zip({ 'a.js': 'x' }), /no manifest\.json/],
  ['an archive whose directory lies', () => withLies(bundle(mapOf('lies'))), /archive is incomplete/],
])('%s is refused with the reason', async (_what, make, reason) => {
  expect(await upload(make())).toMatchObject({ state: 'error', detail: expect.stringMatching(reason) });
});

test('a file that inflates to more than a map may have is left out and named', async () => {
  const deflated = zlib.deflateRawSync(Buffer.alloc(40 * 1024 * 1024, 0x20));
  expect(await upload(bundle({ deflated, bytes: 100 }))).toMatchObject({
    state: 'ok',
    detail: expect.stringContaining('app.js.map is larger than 32 MiB'),
  });
});

/** An upload of many names, each with code and a map of its own, or with one map for all. */
function bundleOfMany(count: number, { isShared }: { readonly isShared: boolean }): Buffer {
  const names = Array.from({ length: count }, (_, index) => `app${index}`);
  const mapOfName = (name: string) => (isShared ? 'shared.map' : `${name}.map`);
  const files = Object.fromEntries(
    names.flatMap((name) => [
      [`${name}.js`, { type: 'minified_source', url: `~/${name}.js`, headers: { Sourcemap: mapOfName(name) } }],
      [mapOfName(name), { type: 'source_map', url: `~/${mapOfName(name)}` }],
    ]),
  );
  const maps = Object.fromEntries(names.map((name) => [mapOfName(name), mapOf(`content of ${mapOfName(name)}`)]));
  return zip({ 'manifest.json': JSON.stringify({ files }), ...maps });
}

test('files that share one map have it read once, and each is mapped', async () => {
  filesRead = 0;
  expect(await upload(bundleOfMany(50, { isShared: true }))).toMatchObject({ state: 'ok', detail: null });
  expect(filesRead, 'the manifest and the map').toBe(2);
  const [{ maps } = { maps: 0 }] = await w.context.db.sql.rows<{ maps: number }>(
    'select maps from artifact_bundles order by created_at desc, id desc limit 1',
    [],
  );
  expect(maps).toBe(50);
});

test('what an upload may unpack to counts for all of its files together: the others are left out, and it says so', async () => {
  filesRead = 0;
  const limits = { uploadUnpackedMegabytes: 1e-6 };
  expect(await upload(bundleOfMany(3, { isShared: false }), 1e9, limits)).toMatchObject({
    state: 'ok',
    detail: expect.stringMatching(/LIMIT_UPLOAD_UNPACKED_MEGABYTES.*the last 2 source maps were left out/),
  });
  expect(filesRead).toBe(2);
  const seconds = await upload(bundleOfMany(4, { isShared: false }), 1e9, { uploadSeconds: 0 });
  expect(seconds).toMatchObject({ state: 'ok', detail: expect.stringMatching(/LIMIT_UPLOAD_SECONDS/) });
});

test('a name that PostgreSQL cannot store fails no upload', async () => {
  const files = {
    'a\0.js': { type: 'minified_source', url: '~/a\0.js', headers: { 'debug-id': '0'.repeat(32) } },
    'a\0.map': { type: 'source_map', url: '~/a\0.map', headers: { 'debug-id': '0'.repeat(32) } },
    'b\0.map': { type: 'source_map', headers: { 'debug-id': '1'.repeat(32) } },
  };
  const archive = zip({ 'manifest.json': JSON.stringify({ files }), 'a\0.map': mapOf('nul') });
  expect(await upload(archive)).toMatchObject({
    state: 'ok',
    detail: expect.stringMatching(/^b\ufffd\.map: it is not in/),
  });
});

test('uploads are the organization’s: another one sees nothing of them, and a key that only looks uploads nothing', async () => {
  const bytes = bundle(mapOf('secret'));
  await upload(bytes);
  const other = await w.given.organization('Other');
  expect((await assemble(bytes, other.orgKey)).body.detail).toContain('another organization');
  const viewer = await w.given.apiKey({ permissions: ['exceptions:view'] });
  expect(await sendChunk(bytes, { key: viewer })).toMatchObject({ status: 403 });
});

test('uploads that share their parts are each read, also where one has been read before the other', async () => {
  const bytes = bundle(mapOf('shared'));
  await sendChunk(bytes);
  const later = { projects: ['web-shop'], version: '2' };
  expect((await assemble(bytes)).body).toEqual(CREATED);
  expect((await assemble(bytes, w.orgKey, later)).body).toEqual(CREATED);
  await read(bytes);
  expect((await assemble(bytes)).body).toMatchObject({ state: 'ok' });
  expect((await assemble(bytes, w.orgKey, later)).body).toMatchObject({ state: 'ok' });
  expect(await w.context.db.sql.rows('select sha1 from upload_chunks where sha1 = $1', [sha1(bytes)])).toEqual([]);
});

test('a part that waits to be read for longer than a day stays', async () => {
  const bytes = bundle(mapOf('late'));
  await sendChunk(bytes);
  expect((await assemble(bytes)).body).toEqual(CREATED);
  w.clock.advance({ hours: 30 });
  await retain();
  await read(bytes);
  expect((await assemble(bytes)).body).toMatchObject({ state: 'ok' });
});

test('an upload for a service that is deleted before it is read leaves nothing and blocks none', async () => {
  await w.given.service({ name: 'Gone' });
  const [bytes, both] = [bundle(mapOf('gone')), bundle(mapOf('both'))];
  for (const part of [bytes, both]) await sendChunk(part);
  expect((await assemble(bytes, w.orgKey, { projects: ['gone'], version: '1' })).body).toEqual(CREATED);
  const projects = ['gone', 'web-shop'];
  expect((await assemble(both, w.orgKey, { projects, version: '1' })).body).toEqual(CREATED);
  await w.context.db.sql.run(`delete from services where name = 'Gone'`);
  await read(bytes);
  await read(both);
  const states = await w.context.db.sql.rows<{ state: string }>(
    'select state from artifact_bundles where checksum = any($1) order by state',
    [[sha1(bytes), sha1(both)]],
  );
  expect(states.map(({ state }) => state)).toEqual(['refused', 'stored']);
});

test('a deleted service leaves none of its source maps, also where maps are kept for ever', async () => {
  const { serviceId } = await w.given.service({ name: 'Short lived' });
  const [bytes, shared] = [withDebugId(mapOf('its own')), withDebugId(mapOf('shared with another'))];
  for (const part of [bytes, shared]) await sendChunk(part);
  await assemble(bytes, w.orgKey, { projects: ['short-lived'] });
  await assemble(shared, w.orgKey, { projects: ['short-lived', 'web-shop'] });
  for (const part of [bytes, shared]) await read(part);
  const { sql } = w.context.db;
  await sql.run('update services set deleted_at = now() where id = $1', [serviceId]);
  const nothing = { deleteService: async () => {} };
  await purge({ db: w.context.db, metricWriter: nothing, exceptionWriter: nothing }, asId('service', serviceId));
  w.clock.advance({ hours: 2 });
  await retain(0);
  const checksums = [sha1(bytes), sha1(shared)];
  expect(await sql.rows('select checksum from artifact_bundles where checksum = any($1)', [checksums])).toEqual([
    { checksum: sha1(shared) },
  ]);
  const unplaced = `select hash from source_maps m
    where not exists (select from source_map_places p where p.org_id = m.org_id and p.hash = m.hash)`;
  expect(await sql.rows(unplaced)).toEqual([]);
});

test('an organization whose uploads wait in great number adds none, but may send again what is there', async () => {
  const [first, second] = [bundle(mapOf('one')), bundle(mapOf('two'))];
  await sendChunk(first);
  const { sql } = w.context.db;
  await sql.run('update upload_chunks set size = 1073741825 where org_id = $1', [w.orgId]);
  expect(await sendChunk(second)).toMatchObject({ status: 429, body: { limit: 'LIMIT_UPLOADS_WAITING_MEGABYTES' } });
  expect(await sendChunk(first)).toMatchObject({ status: 200 });
  await sql.run('delete from upload_chunks where org_id = $1', [w.orgId]);
  expect(await sendChunk(second)).toMatchObject({ status: 200 });
});

test('what was used longest ago makes room, and what nobody uses goes', async () => {
  const releases = async () =>
    (await w.context.db.sql.rows<{ hash: string }>('select hash from source_maps order by hash', [])).length;
  await upload(bundle(mapOf('old')));
  w.clock.advance({ hours: 48 });
  expect(await upload(bundle(mapOf('new')), 1)).toMatchObject({ state: 'ok' });
  expect(await releases()).toBe(1);
  w.clock.advance({ hours: 24 * 91 });
  await retain();
  expect(await releases()).toBe(0);
});
