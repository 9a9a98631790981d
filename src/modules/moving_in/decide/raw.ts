import { parseIsoMs } from '#kernel/wall_clock.ts';

/** One answer of the other tool, or one file: where it comes from, and what it says. */
export interface RawDocument {
  /** Path of the file within its folder, or path and query of the request; in lower case. */
  readonly path: string;
  readonly value: unknown;
}

/** A file that could not be read at all, with the reason as a sentence. */
export interface UnreadableFile {
  readonly path: string;
  readonly reason: string;
}

export type RawObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is RawObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function objectOf(value: unknown): RawObject | null {
  return isObject(value) ? value : null;
}

/** Returns the objects of a list; nothing for whatever is no list. */
export function objectsOf(value: unknown): RawObject[] {
  return Array.isArray(value) ? value.filter((item) => isObject(item)) : [];
}

/** Returns the text of a field, without blanks around it; empty for whatever is no text. */
export function textOf(object: RawObject | null, field: string): string {
  const value = object?.[field];
  return typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : '';
}

export function numberOf(object: RawObject | null, field: string): number | null {
  const value = object?.[field];
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  return typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : null;
}

/** Reads RFC 3339 with an offset in milliseconds; null for anything else, also for a time without an offset. */
export function instantOf(text: string): number | null {
  if (!/^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:?\d\d)$/.test(text)) return null;
  return parseIsoMs(text.replace(' ', 'T').replace(/([+-]\d\d)(\d\d)$/, '$1:$2'));
}

/** Reads a local date and time, whatever offset it has, as milliseconds of a wall clock; null if it is none. */
export function wallOf(text: string): number | null {
  const match = /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d)(:\d\d)?)?/.exec(text);
  if (match === null) return null;
  return parseIsoMs(`${match[1]}T${match[2] ?? '00:00'}${match[3] ?? ':00'}Z`);
}

/** Returns the offset from UTC that a time is written with, in milliseconds; null if it has none. */
export function offsetOf(text: string): number | null {
  const match = /([Zz]|([+-])(\d\d):?(\d\d))$/.exec(text);
  if (match === null) return null;
  if (match[2] === undefined) return 0;
  return (match[2] === '-' ? -1 : 1) * (Number(match[3]) * 60 + Number(match[4])) * 60_000;
}

/**
 * Returns a finder for the id that a path names, of ids as another tool writes them. Whole words of the path and UUIDs
 * are looked up; other ids are searched for in the path.
 */
export function idInPath(ids: readonly string[]): (path: string) => string | null {
  const byText = new Map(ids.filter((id) => id !== '').map((id) => [id.toLowerCase(), id]));
  const odd = [...byText].filter(([text]) => !/^(?:[a-z0-9]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.test(text));
  const cache = new Map<string, string | null>();
  const find = (path: string): string | null => {
    const words = [...(path.match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g) ?? []), ...path.split(/[^a-z0-9]+/)];
    for (const word of words) {
      const id = byText.get(word);
      if (id !== undefined) return id;
    }
    return odd.find(([text]) => path.includes(text))?.[1] ?? null;
  };
  return (path) => {
    const before = cache.get(path);
    if (before !== undefined) return before;
    const id = find(path);
    cache.set(path, id);
    return id;
  };
}
