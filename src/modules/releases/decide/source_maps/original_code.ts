import { freeBytes } from '#kernel/free_bytes.ts';
import {
  findFunctions,
  type FunctionRange,
  type WrittenName,
} from '#modules/releases/decide/source_maps/function_ranges.ts';
import type { StoredMap } from '#modules/releases/decide/source_maps/source_map.ts';

/** A source map says of so many places at most where they come from; what follows is left out. */
const SEGMENTS_MAX = 1_100_000;

const [SEMICOLON, COMMA] = [0x3b, 0x2c];
const VALUES = new Uint8Array(128);
for (const [value, code] of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/').entries()) {
  VALUES[code] = value;
}

/** Origin of a place of the code; all numbers count from 0. */
interface Segment {
  readonly generatedColumn: number;
  /** Null where the place comes from no source. */
  readonly source: number | null;
  readonly line: number;
  readonly column: number;
  readonly name: number | null;
}

const WIDTH = 5;
/** Offsets of the numbers that follow the column of the code. */
const [SOURCE, LINE, COLUMN, NAME] = [1, 2, 3, 4] as const;

/**
 * The mappings of a source map (VLQ, as ECMA-426 has it), in a fifth of the memory that a list of lists takes: those of a
 * large map are a million. Reads what was encoded wrongly as other readers do.
 */
export class Segments {
  /** `WIDTH` numbers for each, in the order of the code. */
  #numbers: Int32Array;
  /** Count of numbers of each segment: 1, 4 or 5. */
  #fields: Uint8Array;
  #count = 0;
  /** Offset at which each line of the code begins, and at which the last one ends. */
  readonly #starts: number[] = [0];
  /** Empty once they are read, as they are long. */
  #mappings: string;
  #at = 0;

  constructor(mappings: string) {
    this.#mappings = mappings;
    const expected = Math.min(SEGMENTS_MAX, countSeparators(mappings) + 1);
    this.#numbers = new Int32Array(expected * WIDTH);
    this.#fields = new Uint8Array(expected);
    this.#read();
    this.#mappings = '';
  }

  /** The last segment that begins at the place or before it, on the same line; of several at the place the first. */
  find(line: number, column: number): Segment | null {
    const [start, end] = [this.#starts[line] ?? 0, this.#starts[line + 1] ?? 0];
    const index = this.#firstBehind(column, start, end) - 1;
    if (index < start) return null;
    return this.#segment(this.#column(index) === column ? this.#firstBehind(column - 1, start, end) : index);
  }

  /** Gives its memory back at once; it finds nothing afterwards. */
  free(): void {
    this.#starts.length = 0;
    freeBytes(this.#numbers);
    freeBytes(this.#fields);
  }

  /** The first of a line that begins behind the column. */
  #firstBehind(column: number, start: number, end: number): number {
    let [low, high] = [start, end];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#column(middle) <= column) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #segment(index: number): Segment {
    const fields = this.#fields[index] ?? 1;
    const generatedColumn = this.#column(index);
    if (fields === 1) return { generatedColumn, source: null, line: 0, column: 0, name: null };
    const number = (field: number): number => this.#numbers[index * WIDTH + field] ?? 0;
    return {
      generatedColumn,
      source: number(SOURCE),
      line: number(LINE),
      column: number(COLUMN),
      name: fields === WIDTH ? number(NAME) : null,
    };
  }

  #column(index: number): number {
    return this.#numbers[index * WIDTH] ?? 0;
  }

  /**
   * Reads the mappings. Each number is the difference from the one before, the column of the code anew on each line.
   */
  #read(): void {
    const { length } = this.#mappings;
    let [source, line, column, name] = [0, 0, 0, 0];
    do {
      const index = this.#mappings.indexOf(';', this.#at);
      const end = index === -1 ? length : index;
      const start = this.#count;
      let isSorted = true;
      let generated = 0;
      for (; this.#at < end && this.#count < SEGMENTS_MAX; this.#at += 1) {
        const before = generated;
        generated += this.#readNumber();
        if (generated < before) isSorted = false;
        let fields = 1;
        if (this.#hasMore(end)) {
          source += this.#readNumber();
          line += this.#readNumber();
          column += this.#readNumber();
          fields = this.#hasMore(end) ? WIDTH : WIDTH - 1;
          if (fields === WIDTH) name += this.#readNumber();
        }
        if (this.#count >= this.#fields.length) this.#grow();
        const at = this.#count * WIDTH;
        this.#numbers[at] = bounded(generated);
        this.#numbers[at + SOURCE] = bounded(source);
        this.#numbers[at + LINE] = bounded(line);
        this.#numbers[at + COLUMN] = bounded(column);
        this.#numbers[at + NAME] = bounded(name);
        this.#fields[this.#count] = fields;
        this.#count += 1;
      }
      if (!isSorted) this.#sort(start);
      this.#starts.push(this.#count);
      this.#at = end + 1;
    } while (this.#at <= length && this.#count < SEGMENTS_MAX);
  }

  #hasMore(end: number): boolean {
    return this.#at < end && this.#mappings.charCodeAt(this.#at) !== COMMA;
  }

  #readNumber(): number {
    let value = 0;
    let digit: number;
    let shift = 0;
    do {
      digit = VALUES[this.#mappings.charCodeAt(this.#at)] ?? 0;
      this.#at += 1;
      value |= (digit & 31) << shift;
      shift += 5;
    } while ((digit & 32) !== 0);
    return (value & 1) === 0 ? value >>> 1 : -2_147_483_648 | -(value >>> 1);
  }

  #grow(): void {
    const size = Math.min(SEGMENTS_MAX, 2 * this.#fields.length);
    const [numbers, fields] = [new Int32Array(size * WIDTH), new Uint8Array(size)];
    numbers.set(this.#numbers);
    fields.set(this.#fields);
    [this.#numbers, this.#fields] = [numbers, fields];
  }

  /** Sorts those from `start` on by their column; equal ones stay as they are. */
  #sort(start: number): void {
    const order = Array.from({ length: this.#count - start }, (_, index) => start + index);
    order.sort((a, b) => this.#column(a) - this.#column(b));
    const numbers = this.#numbers.slice(start * WIDTH, this.#count * WIDTH);
    const fields = this.#fields.slice(start, this.#count);
    for (const [index, from] of order.entries()) {
      const at = (from - start) * WIDTH;
      this.#numbers.set(numbers.subarray(at, at + WIDTH), (start + index) * WIDTH);
      this.#fields[start + index] = fields[from - start] ?? 1;
    }
  }
}

const INT_MAX = 2_147_483_647;

/** Bounds a number: only a wrong encoding comes to more than a number holds here. */
function bounded(value: number): number {
  return value > INT_MAX ? INT_MAX : value < -INT_MAX ? -INT_MAX : value;
}

function countSeparators(mappings: string): number {
  let count = 0;
  for (let at = 0; at < mappings.length; at += 1) {
    const code = mappings.charCodeAt(at);
    if (code === COMMA || code === SEMICOLON) count += 1;
  }
  return count;
}

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
    // Its mappings are long, and are in numbers now.
    this.#map = { ...map, mappings: '' };
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

  functionsOf(code: string): FunctionRange[] {
    return findFunctions(code, (written) => this.#nameOf(written));
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

/** Returns the map with the functions of the code to which it belongs. */
export function withFunctions(map: StoredMap, code: string): StoredMap {
  return { ...map, functions: new OriginalCode(map).functionsOf(code) };
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
