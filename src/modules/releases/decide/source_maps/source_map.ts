import { encodedMappings, FlattenMap } from '@jridgewell/trace-mapping';

import type { FunctionRange } from '#modules/releases/decide/source_maps/function_ranges.ts';
import { sourcePath } from '#modules/releases/decide/source_maps/code_address.ts';

/** A source map as it is stored, with only the parts that are needed. */
export interface StoredMap {
  readonly mappings: string;
  readonly names: readonly string[];
  readonly sources: readonly string[];
  readonly contents: readonly (string | null)[];
  /** Indexes of sources that are not the application's, as the build says. */
  readonly ignored: readonly number[];
  /** The functions of the code; empty when it was not uploaded with the map. */
  readonly functions: readonly FunctionRange[];
}

export const SOURCE_MAP_LIMITS = {
  /** Size of the file as it is uploaded. */
  bytesMax: 32 * 1024 * 1024,
  segmentsMax: 1_000_000,
  sourcesMax: 50_000,
  namesMax: 500_000,
  /** Lines of the code that runs, if a map has sections. */
  linesMax: 1_000_000,
};

/** Limits beyond which a text is cut: frames of events have these as their file and function. */
const SOURCE_LENGTH_MAX = 1_000;
const NAME_LENGTH_MAX = 200;

/** Error for a file that is no source map that can be used. */
export class BadSourceMap extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BadSourceMap';
  }
}

/**
 * Reads the text of a source map, also one with sections. Throws `BadSourceMap`. Takes time in proportion to the text;
 * the caller bounds the time.
 */
export function readSourceMap(text: string): Omit<StoredMap, 'functions'> {
  // Some servers prepend this so that the file is no script.
  const json = parse(text.replace(/^\)\]\}'[^\n]*\n/, ''));
  const flat = 'sections' in json ? flatten(json) : json;
  const { mappings, version } = flat;
  if (version !== 3 && version !== '3') throw new BadSourceMap('it is not a source map of version 3');
  if (typeof mappings !== 'string') throw new BadSourceMap('it has no mappings');
  if (!/^[A-Za-z0-9+/,;]*$/.test(mappings))
    throw new BadSourceMap('its mappings contain characters that are not allowed');
  if (segmentsOf(mappings) > SOURCE_MAP_LIMITS.segmentsMax) {
    throw new BadSourceMap(
      `it has more than ${SOURCE_MAP_LIMITS.segmentsMax} mappings; split the code into more files`,
    );
  }
  const sources = texts(flat['sources'], SOURCE_MAP_LIMITS.sourcesMax, SOURCE_LENGTH_MAX);
  const root = typeof flat['sourceRoot'] === 'string' ? flat['sourceRoot'].slice(0, SOURCE_LENGTH_MAX) : '';
  const contents = Array.isArray(flat['sourcesContent']) ? flat['sourcesContent'] : [];
  return {
    mappings,
    names: texts(flat['names'], SOURCE_MAP_LIMITS.namesMax, NAME_LENGTH_MAX),
    sources: sources.map((source) => sourcePath(root === '' ? source : `${root.replace(/\/$/, '')}/${source}`)),
    contents: sources.map((_, index) => {
      const content: unknown = contents[index];
      return typeof content === 'string' ? storable(content) : null;
    }),
    ignored: numbers(flat['ignoreList'] ?? flat['x_google_ignoreList']).slice(0, sources.length),
  };
}

type Parsed = Readonly<Record<string, unknown>>;

function parse(text: string): Parsed {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new BadSourceMap('it is not JSON');
  }
  if (!isObject(value)) throw new BadSourceMap('it is not a JSON object');
  return value;
}

function isObject(value: unknown): value is Parsed {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const SECTIONS_MAX = 10_000;

function flatten(json: Parsed): Parsed {
  const { sections } = json;
  if (!Array.isArray(sections) || sections.length > SECTIONS_MAX) throw new BadSourceMap('its sections cannot be read');
  // A section may hold sections again, which the reader follows by recursion.
  if (!sections.every(isSection)) throw new BadSourceMap('its sections cannot be read');
  checkSize(sections);
  try {
    const map = new FlattenMap(JSON.stringify(json));
    const { names, sources, sourcesContent, ignoreList } = map;
    return { version: 3, names, sources, sourcesContent, ignoreList, mappings: encodedMappings(map) };
  } catch {
    throw new BadSourceMap('its sections cannot be read');
  }
}

interface Section {
  readonly offset: { readonly line: number; readonly column: number };
  readonly map: Parsed & { readonly mappings: string };
}

function isSection(section: unknown): section is Section {
  if (!isObject(section)) return false;
  const { map, offset } = section;
  if (!isObject(map) || 'sections' in map || typeof map['mappings'] !== 'string' || !isObject(offset)) return false;
  return isPlace(offset['line']) && isPlace(offset['column']);
}

function isPlace(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}

/** Checks the size before the sections are joined, which makes a list for every line up to the last. */
function checkSize(sections: readonly Section[]): void {
  const { segmentsMax, linesMax, sourcesMax, namesMax } = SOURCE_MAP_LIMITS;
  const sum = (count: (section: Section) => number): number =>
    sections.reduce((total, section) => total + count(section), 0);
  const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : 0);
  if (sum(({ map }) => segmentsOf(map.mappings)) > segmentsMax) {
    throw new BadSourceMap(`its sections have more than ${segmentsMax} mappings`);
  }
  if (sections.some(({ offset, map }) => offset.line + linesOf(map.mappings) > linesMax)) {
    throw new BadSourceMap(`its sections describe code with more than ${linesMax} lines`);
  }
  if (sum(({ map }) => lengthOf(map['sources'])) > sourcesMax || sum(({ map }) => lengthOf(map['names'])) > namesMax) {
    throw new BadSourceMap('its sections have too many names or sources');
  }
}

function linesOf(mappings: string): number {
  let count = 1;
  for (let at = mappings.indexOf(';'); at !== -1; at = mappings.indexOf(';', at + 1)) count += 1;
  return count;
}

/** Counts segments; empty lines count too, so the result is never less than their number. */
function segmentsOf(mappings: string): number {
  let count = 1;
  for (let at = 0; at < mappings.length; at += 1) {
    const code = mappings.charCodeAt(at);
    if (code === 0x2c || code === 0x3b) count += 1;
  }
  return count;
}

function texts(value: unknown, max: number, lengthMax: number): string[] {
  if (!Array.isArray(value)) return [];
  if (value.length > max) throw new BadSourceMap(`it has more than ${max} names or sources`);
  return value.map((entry: unknown) => (typeof entry === 'string' ? storable(entry.slice(0, lengthMax)) : ''));
}

/** Removes the character that PostgreSQL does not store: frames of events get these names and lines. */
function storable(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '') : text;
}

function numbers(value: unknown): number[] {
  return Array.isArray(value) ? value.filter((entry): entry is number => Number.isInteger(entry)) : [];
}
