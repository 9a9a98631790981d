import { RE2JS } from 're2js';

/** The pattern of a `=~` or `!~` matcher as a search for it has to be written: PromQL anchors, and its dot is any character. */
export function anchoredPattern(pattern: string): string {
  return `^(?s:${pattern})$`;
}

/**
 * Size of the program that a pattern compiles to; what is wrong with one that RE2 does not take. Takes up to a quarter of a
 * second for what strangers can write: whoever has others to answer asks a thread and remembers the answer.
 */
export function sizeOfPattern(pattern: string): number | string {
  try {
    // Alone first: `a)(b` is sound only inside the group that anchors it. Then anchored: `\Q` must not swallow that.
    RE2JS.compile(pattern);
    return RE2JS.compile(anchoredPattern(pattern)).programSize();
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : 'unreadable';
  }
}

const KNOWN_MAX = 10_000;
/** The same selector is read several times in a request, and by each chart of a page. Least recently used first. */
const known = new Map<string, number | string>();

/** What `rememberPattern` was told; undefined for a pattern that nobody has looked at lately. */
export function knownPattern(pattern: string): number | string | undefined {
  const size = known.get(pattern);
  if (size !== undefined) rememberPattern(pattern, size);
  return size;
}

export function rememberPattern(pattern: string, size: number | string): void {
  known.delete(pattern);
  known.set(pattern, size);
  const oldest = known.size > KNOWN_MAX ? known.keys().next().value : undefined;
  if (oldest !== undefined) known.delete(oldest);
}
