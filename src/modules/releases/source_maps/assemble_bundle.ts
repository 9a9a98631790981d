import { copyIdOf } from '#modules/releases/decide/source_maps/upload_line.ts';
import { SOURCE_MAP_LIMITS } from '#modules/releases/decide/source_maps/source_map.ts';
import { freeBytes } from '#kernel/free_bytes.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import type {
  AssemblyAnswer,
  AssemblyQuestion,
  AssemblyThread,
} from '#modules/releases/source_maps/assembly_thread.ts';
import { MANIFEST_BYTES_MAX, type MappedCode, MAPS_MAX } from '#modules/releases/source_maps/bundle_manifest.ts';
import {
  BadUpload,
  listZipEntries,
  readPacked,
  UploadedBytes,
  type ZipEntry,
} from '#modules/releases/source_maps/zip_archive.ts';
import type { BundleRow } from '#modules/releases/store/artifact_store.ts';
import type { NewPlace } from '#modules/releases/store/source_map_store.ts';
import { inUnitOfWork, type Stores, storesOf, type UnitOfWorkRuntime } from '#modules/stores.ts';

export interface AssemblyRuntime extends UnitOfWorkRuntime {
  readonly log: Log;
  /** Bytes of source maps that an organization may have stored; beyond, those that were used longest ago make room. */
  readonly sourceMapBytesMax: number;
  readonly uploadLimits: UploadLimits;
}

/** Limits on reading one upload; whatever exceeds them is skipped. */
export interface UploadLimits {
  /** Limit on its unpacked source maps and code; each file of the archive counts once. */
  readonly uploadUnpackedMegabytes: number;
  readonly uploadSeconds: number;
}

/** Thread that reads an upload, and the signal to stop. */
export interface Assembler {
  readonly thread: Pick<AssemblyThread, 'ask'>;
  readonly signal?: AbortSignal;
}

const FAULTS_TOLD_MAX = 10;

/**
 * Takes the source maps out of an upload and stores them; the code itself is not kept. Safe to run again after a crash
 * half-way. A file that cannot be used is left out and named; an upload that cannot be read is refused.
 */
export async function assembleBundle(
  runtime: AssemblyRuntime,
  assembler: Assembler,
  orgId: Id<'org'>,
  bundleId: string,
): Promise<void> {
  const { artifacts } = storesOf(runtime.db.session());
  const bundle = await artifacts.findBundleById(orgId, bundleId);
  if (bundle === null || bundle.state !== 'waiting') return;
  try {
    await takeMaps(runtime, assembler, bundle);
  } catch (error) {
    if (!(error instanceof BadUpload)) throw error;
    const detail = storableText(error.message);
    await artifacts.endBundle(bundle.id, { state: 'refused', detail, maps: 0, bytes: bundle.bytes });
  }
  await inUnitOfWork(runtime, async ({ stores }) => {
    await stores.artifacts.lockChunks(orgId);
    await stores.artifacts.removeChunks(orgId, bundle.chunks);
  });
}

async function takeMaps(runtime: AssemblyRuntime, assembler: Assembler, bundle: BundleRow): Promise<void> {
  const { orgId } = bundle;
  const { artifacts } = storesOf(runtime.db.session());
  const file = new UploadedBytes(artifacts, orgId, bundle.chunks, await artifacts.chunkSizes(orgId, bundle.chunks));
  if ((await file.sha1()) !== bundle.checksum) throw new BadUpload('the parts do not make the file of that checksum');
  const archive = new Archive(runtime, assembler, orgId, file, await listZipEntries(file));
  const { codes, total } = await archive.readManifest();
  const faults: string[] = [];
  if (total > MAPS_MAX) faults.push(`only the first ${MAPS_MAX} of ${total} source maps were taken`);
  const taken: { readonly code: MappedCode; readonly hash: string }[] = [];
  for (const [index, code] of codes.entries()) {
    const limit = archive.reachedLimit();
    if (limit !== null) {
      faults.push(`${limit}; the last ${codes.length - index} source maps were left out`);
      break;
    }
    assembler.signal?.throwIfAborted();
    try {
      taken.push({ code, hash: await archive.storeMap(code) });
    } catch (error) {
      if (!(error instanceof BadUpload)) throw error;
      faults.push(`${code.mapPath}: ${error.message}`);
    }
  }
  await inUnitOfWork(runtime, async ({ stores, now }) => {
    await stores.sourceMaps.removePlacesOf(bundle.id);
    const services = await servicesLeft(stores, bundle);
    await stores.sourceMaps.addPlaces(taken.flatMap(({ code, hash }) => placesOf(bundle, services, code, hash)));
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

/** Returns the services of an upload that are still there. Throws `BadUpload` if all have been deleted since. */
async function servicesLeft(
  { services }: Pick<Stores, 'services'>,
  { serviceIds }: BundleRow,
): Promise<Id<'service'>[]> {
  const gone = new Set(await services.listGone(serviceIds));
  const present = serviceIds.filter((serviceId) => !gone.has(serviceId));
  if (present.length === 0 && gone.size > 0) throw new BadUpload('the service that it is for was deleted');
  return present;
}

function faultsText(faults: readonly string[]): string {
  const more = faults.length - FAULTS_TOLD_MAX;
  const reported = [...faults.slice(-1), ...faults.slice(0, -1)].slice(0, FAULTS_TOLD_MAX);
  return storableText([...reported, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')).slice(0, 2_000);
}

/** Names of files are what somebody wrote into the archive. */
function storableText(text: string): string {
  return text.replaceAll('\0', '\u{fffd}').toWellFormed();
}

/** An upload that is being read. */
class Archive {
  readonly #runtime: AssemblyRuntime;
  readonly #assembler: Assembler;
  readonly #orgId: Id<'org'>;
  readonly #file: UploadedBytes;
  readonly #entries: ReadonlyMap<string, ZipEntry>;
  /** The hash or the fault of each map with its code: many names may stand for the same files. */
  readonly #known = new Map<string, { readonly hash: string } | { readonly fault: string }>();
  #unpackedBytes = 0;
  #tookMs = 0;

  constructor(
    runtime: AssemblyRuntime,
    assembler: Assembler,
    orgId: Id<'org'>,
    file: UploadedBytes,
    entries: readonly ZipEntry[],
  ) {
    this.#runtime = runtime;
    this.#assembler = assembler;
    this.#orgId = orgId;
    this.#file = file;
    this.#entries = new Map(entries.map((entry) => [entry.name, entry]));
  }

  /** The limit that reading it has reached, in words; null while it has reached none. */
  reachedLimit(): string | null {
    const { uploadUnpackedMegabytes, uploadSeconds } = this.#runtime.uploadLimits;
    if (this.#unpackedBytes > uploadUnpackedMegabytes * 1_048_576) {
      this.#runtime.reachedLimits?.record('uploadUnpackedMegabytes', this.#orgId);
      return `its files unpack to more than ${uploadUnpackedMegabytes} MiB (LIMIT_UPLOAD_UNPACKED_MEGABYTES): split it`;
    }
    if (this.#tookMs > uploadSeconds * 1_000) {
      this.#runtime.reachedLimits?.record('uploadSeconds', this.#orgId);
      return `it takes more than ${uploadSeconds} s to read (LIMIT_UPLOAD_SECONDS): split it`;
    }
    return null;
  }

  async readManifest(): Promise<AssemblyAnswer & { readonly kind: 'manifest' }> {
    const entry = this.#entries.get('manifest.json');
    if (entry === undefined) throw new BadUpload('the archive has no manifest.json');
    const manifest = await readPacked(this.#file, entry, MANIFEST_BYTES_MAX);
    const answer = await this.#ask({ kind: 'manifest', manifest });
    if (answer.kind !== 'manifest') throw new BadUpload('its manifest.json cannot be read');
    return answer;
  }

  /** Returns the hash under which it is stored. Throws `BadUpload` for a file that cannot be used. */
  async storeMap({ mapPath, codePath }: MappedCode): Promise<string> {
    const map = this.#entries.get(mapPath);
    if (map === undefined) throw new BadUpload('it is not in the archive');
    const code = codePath === null ? null : this.#usableCode(codePath);
    const key = [map.headerAt, code?.headerAt ?? '', code === null ? '' : (copyIdOf(code.name) ?? '')].join(' ');
    const cachedCode = this.#known.get(key) ?? (await this.#read(map, code));
    this.#known.set(key, cachedCode);
    if ('fault' in cachedCode) throw new BadUpload(cachedCode.fault);
    return cachedCode.hash;
  }

  #usableCode(path: string): ZipEntry | null {
    const entry = this.#entries.get(path);
    return entry === undefined || entry.bytes > SOURCE_MAP_LIMITS.bytesMax ? null : entry;
  }

  async #read(map: ZipEntry, code: ZipEntry | null): Promise<{ hash: string } | { fault: string }> {
    try {
      const { bytesMax } = SOURCE_MAP_LIMITS;
      const answer = await this.#ask({
        kind: 'map',
        map: await readPacked(this.#file, map, bytesMax),
        code: code === null ? null : await readPacked(this.#file, code, bytesMax),
      });
      if (answer.kind !== 'map') throw new BadUpload('it cannot be read');
      const { hash, size, content } = answer;
      await storesOf(this.#runtime.db.session()).sourceMaps.insert({
        orgId: this.#orgId,
        hash,
        size,
        storedBytes: content.length,
        content: Buffer.from(content.buffer, content.byteOffset, content.byteLength),
        createdAt: this.#runtime.clock.now(),
      });
      freeBytes(content);
      return { hash };
    } catch (error) {
      if (!(error instanceof BadUpload)) throw error;
      return { fault: error.message };
    }
  }

  async #ask(question: AssemblyQuestion): Promise<AssemblyAnswer> {
    const asked = await this.#assembler.thread.ask(this.#orgId, question);
    this.#tookMs += asked.tookMs;
    if (asked.kind === 'too_much') throw new BadUpload('it takes more time or memory than it may');
    const { answer } = asked;
    if (answer.kind !== 'manifest') this.#unpackedBytes += answer.unpackedBytes;
    if (answer.kind === 'fault') throw new BadUpload(answer.message);
    return answer;
  }
}

/**
 * Returns the places of a map: by debug id for the whole organization; by release and address for each service that the
 * upload names.
 */
function placesOf(
  { id, orgId, release, dist }: BundleRow,
  serviceIds: readonly Id<'service'>[],
  code: MappedCode,
  hash: string,
): NewPlace[] {
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
