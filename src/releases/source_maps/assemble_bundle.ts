import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import zlib from 'node:zlib';

import { CODE_BYTES_MAX } from '#core/source_maps/function_ranges.ts';
import { OriginalCode } from '#core/source_maps/original_code.ts';
import { BadSourceMap, readSourceMap, SOURCE_MAP_LIMITS, type StoredMap } from '#core/source_maps/source_map.ts';
import { withoutUploadLine } from '#core/source_maps/upload_line.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import { runWithTimeLimit, TimeLimitExceeded } from '#kernel/run_with_time_limit.ts';
import { type MappedCode, readManifest } from '#releases/source_maps/bundle_manifest.ts';
import { BadUpload, UploadedBytes } from '#releases/source_maps/uploaded_bytes.ts';
import { listZipEntries, readZipEntry, type ZipEntry } from '#releases/source_maps/zip_archive.ts';
import type { BundleRow } from '#storage/postgres/artifact_store.ts';
import type { NewPlace } from '#storage/postgres/source_map_store.ts';
import { storesOf } from '#storage/postgres/stores.ts';
import { inUnitOfWork, type UnitOfWorkRuntime } from '#storage/postgres/unit_of_work.ts';

const zstdCompress = promisify(zlib.zstdCompress);

export interface AssemblyRuntime extends UnitOfWorkRuntime {
  readonly log: Log;
  /** Bytes of source maps that an organization may have stored; beyond, those that were used longest ago make room. */
  readonly sourceMapBytesMax: number;
}

const MANIFEST_BYTES_MAX = 16 * 1024 * 1024;
/** For one map, and for the code that belongs to it: real ones of the largest size take a third of it. */
const READ_MS_MAX = 3_000;
const MAPS_MAX = 5_000;
const FAULTS_TOLD_MAX = 10;

/**
 * Takes the source maps out of an upload and stores them; the code itself is not kept. Safe to run again after a crash
 * half-way. A file that cannot be used is left out and named; an upload that cannot be read is refused.
 */
export async function assembleBundle(runtime: AssemblyRuntime, orgId: Id<'org'>, bundleId: string): Promise<void> {
  const { artifacts } = storesOf(runtime.db.session());
  const bundle = await artifacts.findBundleById(orgId, bundleId);
  if (bundle === null || bundle.state !== 'waiting') return;
  try {
    await takeMaps(runtime, bundle);
  } catch (error) {
    if (!(error instanceof BadUpload)) throw error;
    await artifacts.endBundle(bundle.id, { state: 'refused', detail: error.message, maps: 0, bytes: bundle.bytes });
  }
  await artifacts.removeChunks(orgId, bundle.chunks);
}

async function takeMaps(runtime: AssemblyRuntime, bundle: BundleRow): Promise<void> {
  const { orgId } = bundle;
  const { artifacts } = storesOf(runtime.db.session());
  const file = new UploadedBytes(artifacts, orgId, bundle.chunks, await artifacts.chunkSizes(orgId, bundle.chunks));
  if ((await file.sha1()) !== bundle.checksum) throw new BadUpload('the parts do not make the file of that checksum');
  const entries = new Map((await listZipEntries(file)).map((entry) => [entry.name, entry]));
  const manifest = entries.get('manifest.json');
  if (manifest === undefined) throw new BadUpload('the archive has no manifest.json');
  const codes = readManifest((await readZipEntry(file, manifest, MANIFEST_BYTES_MAX)).toString('utf8'));
  const faults: string[] = [];
  if (codes.length > MAPS_MAX) faults.push(`only the first ${MAPS_MAX} of ${codes.length} source maps were taken`);
  const taken: { readonly code: MappedCode; readonly hash: string }[] = [];
  for (const code of codes.slice(0, MAPS_MAX)) {
    try {
      taken.push({ code, hash: await storeMap(runtime, orgId, await readMap(file, entries, code)) });
    } catch (error) {
      if (!isFileFault(error)) throw error;
      faults.push(`${code.mapPath}: ${error.message}`);
    }
  }
  await inUnitOfWork(runtime, async ({ stores, now }) => {
    await stores.sourceMaps.removePlacesOf(bundle.id);
    await stores.sourceMaps.addPlaces(taken.flatMap(({ code, hash }) => placesOf(bundle, code, hash)));
    await stores.artifacts.endBundle(bundle.id, {
      state: 'stored',
      detail: faults.length === 0 ? null : faultsText(faults),
      maps: taken.length,
      bytes: bundle.bytes,
    });
    await stores.artifacts.markUsed([bundle.id], now);
  });
  await makeRoom(runtime, bundle);
}

function isFileFault(error: unknown): error is Error {
  return error instanceof BadSourceMap || error instanceof BadUpload || error instanceof TimeLimitExceeded;
}

function faultsText(faults: readonly string[]): string {
  const more = faults.length - FAULTS_TOLD_MAX;
  return [...faults.slice(0, FAULTS_TOLD_MAX), ...(more > 0 ? [`and ${more} more`] : [])].join('; ').slice(0, 2_000);
}

async function readMap(
  file: UploadedBytes,
  entries: ReadonlyMap<string, ZipEntry>,
  { mapPath, codePath }: MappedCode,
): Promise<StoredMap> {
  const mapEntry = entries.get(mapPath);
  if (mapEntry === undefined) throw new BadUpload('it is not in the archive');
  const text = (await readZipEntry(file, mapEntry, SOURCE_MAP_LIMITS.bytesMax)).toString('utf8');
  const map = runWithTimeLimit(READ_MS_MAX, () => readSourceMap(text));
  const codeEntry = codePath === null ? undefined : entries.get(codePath);
  if (codeEntry === undefined || codeEntry.bytes > SOURCE_MAP_LIMITS.bytesMax) return { ...map, functions: [] };
  const uploaded = (await readZipEntry(file, codeEntry, SOURCE_MAP_LIMITS.bytesMax)).toString('utf8');
  const { code, mappings } = withoutUploadLine({ path: codeEntry.name, code: uploaded, mappings: map.mappings });
  const stored = { ...map, mappings, functions: [] };
  if (codeEntry.bytes > CODE_BYTES_MAX) return stored;
  try {
    return runWithTimeLimit(READ_MS_MAX, () => new OriginalCode(stored).withFunctions(code));
  } catch (error) {
    if (error instanceof TimeLimitExceeded || error instanceof RangeError) return stored;
    throw error;
  }
}

/** Returns the hash under which it is stored. */
async function storeMap({ db, clock }: AssemblyRuntime, orgId: Id<'org'>, map: StoredMap): Promise<string> {
  const bytes = Buffer.from(JSON.stringify(map));
  const hash = createHash('sha256').update(bytes).digest('hex');
  const { sourceMaps } = storesOf(db.session());
  const content = await zstdCompress(bytes);
  const sizes = { size: bytes.length, storedBytes: content.length };
  await sourceMaps.insert({ orgId, hash, ...sizes, content, createdAt: clock.now() });
  return hash;
}

/** By debug id for the whole organization; by release and address for each service that the upload names. */
function placesOf({ id, orgId, serviceIds, release, dist }: BundleRow, code: MappedCode, hash: string): NewPlace[] {
  const { debugId, url } = code;
  const place = { orgId, bundleId: id, hash };
  const byId = debugId === null ? [] : [{ ...place, debugId, serviceId: null, release: null, dist: null, url: null }];
  if (release === null || url === null) return byId;
  return [...byId, ...serviceIds.map((serviceId) => ({ ...place, debugId: null, serviceId, release, dist, url }))];
}

const ROWS_A_STATEMENT = 500;

/** Removes the uploads that were used longest ago, until the rest fits. */
async function makeRoom({ db, clock, log, sourceMapBytesMax }: AssemblyRuntime, bundle: BundleRow): Promise<void> {
  const { artifacts, sourceMaps } = storesOf(db.session());
  const { orgId } = bundle;
  while ((await sourceMaps.storedBytes(orgId)) > sourceMapBytesMax) {
    const oldest = await artifacts.findOldestBundle(orgId, bundle.id);
    if (oldest === null) return;
    await artifacts.removeBundle(oldest.id);
    while ((await sourceMaps.removeUnplaced(orgId, clock.now(), ROWS_A_STATEMENT)) > 0);
    const { release } = oldest;
    log.info(
      { orgId, bundleId: oldest.id, release },
      'deleted an old upload of source maps to make room for a new one',
    );
  }
}
