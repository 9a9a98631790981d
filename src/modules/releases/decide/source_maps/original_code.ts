import {
  findFunctions,
  type FunctionRange,
  type WrittenName,
} from '#modules/releases/decide/source_maps/function_ranges.ts';
import { type Segment, Segments } from '#modules/releases/decide/source_maps/segments.ts';
import type { StoredMap } from '#modules/releases/decide/source_maps/source_map.ts';

/** A place in the source. Line and column count from 1. */
export interface OriginalPlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Whether the build says that it is not the application's own. */
  readonly isIgnored: boolean;
  readonly contextLine: string | null;
  readonly preContext: readonly string[];
  readonly postContext: readonly string[];
  /** The function around it; null when it has no name or is not known. */
  readonly functionName: string | null;
}

const CONTEXT_LINES = 5;
const LINE_LENGTH_MAX = 512;
/** Limit on the length of a source: longer ones are not sources that people read. */
const CONTENT_LENGTH_MAX = 4 * 1024 * 1024;

/** Finds the origin of places in the code that runs. Each result is computed once. */
export class OriginalCode {
  readonly #map: StoredMap;
  readonly #segments: Segments;
  readonly #ignored: ReadonlySet<number>;
  readonly #lines = new Map<number, readonly string[] | null>();
  readonly #parents: Int32Array;

  constructor(map: StoredMap) {
    this.#map = map;
    this.#segments = new Segments(map.mappings);
    this.#ignored = new Set(map.ignored);
    this.#parents = parentsOf(map.functions);
  }

  /**
   * Finds the origin of a place in the code that runs, line and column from 1; null if the source has nothing there.
   */
  find(line: number, column: number): OriginalPlace | null {
    const segment = this.#segments.find(line - 1, column - 1);
    if (segment === null || segment.source === null) return null;
    const { source, line: originalLine, column: originalColumn } = segment;
    const file = this.#map.sources[source];
    // Faulty encoding may give any number.
    if (file === undefined || originalLine < 0 || originalColumn < 0) return null;
    const lines = this.#linesOf(source);
    return {
      file,
      line: originalLine + 1,
      column: originalColumn + 1,
      isIgnored: this.#ignored.has(source),
      contextLine: lines?.[originalLine]?.slice(0, LINE_LENGTH_MAX) ?? null,
      preContext: shortened(lines?.slice(Math.max(0, originalLine - CONTEXT_LINES), originalLine)),
      postContext: shortened(lines?.slice(originalLine + 1, originalLine + 1 + CONTEXT_LINES)),
      functionName: this.#functionAt(line - 1, column - 1),
    };
  }

  /** Gives its memory back at once; it finds nothing afterwards. */
  free(): void {
    this.#segments.free();
  }

  /** Returns the map with the functions of the code to which it belongs. */
  withFunctions(code: string): StoredMap {
    return { ...this.#map, functions: findFunctions(code, (written) => this.#nameOf(written)) };
  }

  #nameOf({ text, line, column, isKey }: WrittenName): string | null {
    const segment = this.#segments.find(line, column);
    const kept = isKey ? text : null;
    if (segment === null || segment.generatedColumn !== column) return kept;
    return this.#nameOfSegment(segment) ?? kept;
  }

  #nameOfSegment({ source, line, column, name }: Segment): string | null {
    if (source === null) return null;
    if (name !== null) return this.#map.names[name] ?? null;
    const text = this.#linesOf(source)?.[line]?.slice(column, column + 200) ?? '';
    return /^#?[\p{ID_Start}$_][\p{ID_Continue}$]*/u.exec(text)?.[0] ?? null;
  }

  #linesOf(source: number): readonly string[] | null {
    let lines = this.#lines.get(source);
    if (lines === undefined) {
      const content = this.#map.contents[source] ?? null;
      lines = content === null || content.length > CONTENT_LENGTH_MAX ? null : content.split(/\r\n|\r|\n/);
      this.#lines.set(source, lines);
    }
    return lines;
  }

  #functionAt(line: number, column: number): string | null {
    const ranges = this.#map.functions;
    let at = lastBegun(ranges, line, column);
    for (; at !== -1; at = this.#parents[at] ?? -1) {
      const range = ranges[at];
      if (range !== undefined && isBefore(line, column, range[2], range[3])) return range[4];
    }
    return null;
  }
}

function shortened(lines: readonly string[] | undefined): readonly string[] {
  return (lines ?? []).map((line) => line.slice(0, LINE_LENGTH_MAX));
}

function isBefore(line: number, column: number, otherLine: number, otherColumn: number): boolean {
  return line < otherLine || (line === otherLine && column < otherColumn);
}

/** Returns the last function that begins there or before; -1 for none. */
function lastBegun(ranges: readonly FunctionRange[], line: number, column: number): number {
  let [low, high] = [-1, ranges.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    const range = ranges[middle];
    if (range !== undefined && !isBefore(line, column, range[0], range[1])) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Returns for each function the one around it; -1 for none. They are in the order in which they begin. */
function parentsOf(ranges: readonly FunctionRange[]): Int32Array {
  const parents = new Int32Array(ranges.length).fill(-1);
  const open: number[] = [];
  for (const [at, [line, column]] of ranges.entries()) {
    for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
      const range = ranges[last];
      if (range !== undefined && isBefore(line, column, range[2], range[3])) break;
      open.pop();
    }
    parents[at] = open.at(-1) ?? -1;
    open.push(at);
  }
  return parents;
}
