import { debugIdOf } from '#modules/releases/decide/source_maps/upload_line.ts';
import { resolveAddress } from '#modules/releases/decide/source_maps/code_address.ts';
import { BadUpload } from '#modules/releases/source_maps/zip_archive.ts';

interface BundledFile {
  readonly path: string;
  readonly type: string;
  readonly url: string | null;
  readonly debugId: string | null;
  /** Address of the map according to the code; null if it gives none. */
  readonly mapAddress: string | null;
}

/** Piece of code with its map in the same bundle. */
export interface MappedCode {
  /** The path of the code in the archive; null when only the map was uploaded. */
  readonly codePath: string | null;
  readonly mapPath: string;
  readonly debugId: string | null;
  readonly url: string | null;
}

export const MANIFEST_BYTES_MAX = 16 * 1024 * 1024;
/** Source maps that are taken out of one upload. */
export const MAPS_MAX = 5_000;
const TEXT_LENGTH_MAX = 1_000;

/** Reads a manifest: each piece of code with its map. Code without a map is left out. */
export function readManifest(text: string): readonly MappedCode[] {
  const files = listFiles(text);
  const maps = files.filter(({ type }) => type === 'source_map');
  const byDebugId = new Map(maps.flatMap((map) => (map.debugId === null ? [] : [[map.debugId, map] as const])));
  const byUrl = new Map(maps.flatMap((map) => (map.url === null ? [] : [[map.url, map] as const])));
  const placed = new Set<string>();
  const codes = files.flatMap((file): MappedCode[] => {
    if (file.type !== 'minified_source') return [];
    const map = mapOf(file, byDebugId, byUrl);
    if (map === null) return [];
    placed.add(map.path);
    return [{ codePath: file.path, mapPath: map.path, debugId: file.debugId ?? map.debugId, url: file.url }];
  });
  const alone = maps.flatMap(({ path, debugId }): MappedCode[] =>
    debugId === null || placed.has(path) ? [] : [{ codePath: null, mapPath: path, debugId, url: null }],
  );
  return [...codes, ...alone];
}

function mapOf(
  { debugId, url, mapAddress }: BundledFile,
  byDebugId: ReadonlyMap<string, BundledFile>,
  byUrl: ReadonlyMap<string, BundledFile>,
): BundledFile | null {
  const map = debugId === null ? undefined : byDebugId.get(debugId);
  if (map !== undefined) return map;
  if (url === null) return null;
  const named = mapAddress === null ? undefined : byUrl.get(resolveAddress(mapAddress, url));
  return named ?? byUrl.get(`${url}.map`) ?? null;
}

function listFiles(text: string): BundledFile[] {
  const files = asObject(asObject(parse(text))?.['files']);
  if (files === null) throw new BadUpload('the archive has no manifest.json that names its files');
  return Object.entries(files).map(([path, value]) => {
    const file = asObject(value) ?? {};
    const headers = new Map(
      Object.entries(asObject(file['headers']) ?? {}).map(([name, header]) => [name.toLowerCase(), header]),
    );
    return {
      path,
      type: asText(file['type']) ?? '',
      url: asText(file['url']),
      debugId: debugIdOf(headers.get('debug-id')),
      mapAddress: asText(headers.get('sourcemap') ?? headers.get('x-sourcemap')),
    };
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new BadUpload('the manifest.json of the archive is not JSON');
  }
}

function asObject(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : null;
}

/** Returns a text; null also for one that PostgreSQL does not store. */
function asText(value: unknown): string | null {
  if (typeof value !== 'string' || value === '' || value.length > TEXT_LENGTH_MAX) return null;
  return value.includes('\0') ? null : value.toWellFormed();
}
