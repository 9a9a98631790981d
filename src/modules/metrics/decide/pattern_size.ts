import { RE2JS } from 're2js';

/** Returns the pattern of a `=~` or `!~` matcher as a search needs it: PromQL anchors, and its dot is any character. */
export function anchoredPattern(pattern: string): string {
  return `^(?s:${pattern})$`;
}

/**
 * Returns the size of the program that a pattern compiles to; the fault of one that RE2 does not take. Takes up to a
 * quarter of a second for what strangers can write: a process that serves others asks a thread and caches the answer.
 */
export function sizeOfPattern(pattern: string): number | string {
  try {
    // Alone first: `a)(b` is valid only inside the anchoring group. Then anchored: `\Q` must not swallow the anchor.
    RE2JS.compile(pattern);
    return RE2JS.compile(anchoredPattern(pattern)).programSize();
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : 'unreadable';
  }
}

const KNOWN_MAX = 10_000;
/** Cache of sizes, least recently used first: a request, and each chart of a page, reads a selector repeatedly. */
const sizes = new Map<string, number | string>();

/** Returns what `rememberPattern` stored; undefined for a pattern that was not used lately. */
export function knownPattern(pattern: string): number | string | undefined {
  const size = sizes.get(pattern);
  if (size !== undefined) rememberPattern(pattern, size);
  return size;
}

export function rememberPattern(pattern: string, size: number | string): void {
  sizes.delete(pattern);
  sizes.set(pattern, size);
  const oldest = sizes.size > KNOWN_MAX ? sizes.keys().next().value : undefined;
  if (oldest !== undefined) sizes.delete(oldest);
}
