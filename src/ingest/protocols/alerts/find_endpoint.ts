import type { AlertEndpoint } from '#ingest/protocols/alerts/alert_protocol.ts';
import { storable } from '#modules/alerts/decide/alert_text.ts';

/** The endpoint of an address, with the parts of the path that it names; or why there is none. */
export type EndpointMatch =
  | { readonly kind: 'found'; readonly endpoint: AlertEndpoint; readonly path: Readonly<Record<string, string>> }
  | { readonly kind: 'method'; readonly allowed: readonly string[] }
  | { readonly kind: 'unknown' };

/** Words of the pattern of each endpoint: there are sixty, and every request looks through them. */
const WORDS = new WeakMap<AlertEndpoint, readonly string[]>();

function wordsOf(endpoint: AlertEndpoint): readonly string[] {
  const before = WORDS.get(endpoint);
  if (before !== undefined) return before;
  const words = endpoint.pattern.split('/');
  WORDS.set(endpoint, words);
  return words;
}

/**
 * Finds the endpoint of a path below `/api/alerts`. A last slash and doubled ones mean nothing, so that no client is ever
 * redirected; `%2F` is part of a name. Words come before names.
 */
export function findEndpoint(endpoints: readonly AlertEndpoint[], method: string, path: string): EndpointMatch {
  const parts = path.split('/').filter((part) => part !== '');
  const matches: { readonly endpoint: AlertEndpoint; readonly path: Record<string, string> }[] = [];
  for (const endpoint of endpoints) {
    const named = match(wordsOf(endpoint), parts);
    if (named !== null) matches.push({ endpoint, path: named });
  }
  const allowed = matches
    .filter(({ endpoint }) => endpoint.methods.includes(method))
    .toSorted((a, b) => Object.keys(a.path).length - Object.keys(b.path).length)[0];
  if (allowed !== undefined) return { kind: 'found', ...allowed };
  if (matches.length === 0) return { kind: 'unknown' };
  return { kind: 'method', allowed: [...new Set(matches.flatMap(({ endpoint }) => endpoint.methods))] };
}

function match(pattern: readonly string[], parts: readonly string[]): Record<string, string> | null {
  if (pattern.length !== parts.length) return null;
  if (pattern.some((word, index) => !word.startsWith(':') && word !== parts[index])) return null;
  const named: Record<string, string> = {};
  for (const [index, word] of pattern.entries()) {
    const part = parts[index] ?? '';
    if (!word.startsWith(':')) continue;
    const decoded = decode(part);
    if (decoded === null) return null;
    named[word.slice(1)] = decoded;
  }
  return named;
}

function decode(part: string): string | null {
  try {
    return storable(decodeURIComponent(part));
  } catch {
    return null;
  }
}
