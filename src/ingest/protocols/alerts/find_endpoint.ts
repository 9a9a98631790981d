import type { AlertEndpoint } from '#ingest/protocols/alerts/alert_protocol.ts';
import { storable } from '#modules/alerts/decide/alert_links.ts';

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

/** A part of a path between slashes, and its place. */
interface Part {
  readonly text: string;
  readonly from: number;
}

interface Named {
  readonly path: Record<string, string>;
  /** Parts that a name holds beyond its first. */
  readonly spanned: number;
}

/**
 * Finds the endpoint of a path below `/api/alerts`. A last slash and doubled ones mean nothing, so that no client is ever
 * redirected; `%2F` is part of a name, and so is a slash where the pattern lets a name hold some. Words come before names.
 */
export function findEndpoint(endpoints: readonly AlertEndpoint[], method: string, path: string): EndpointMatch {
  const parts = partsOf(path);
  const matches: (Named & { readonly endpoint: AlertEndpoint })[] = [];
  for (const endpoint of endpoints) {
    const named = match(wordsOf(endpoint), parts, path);
    if (named !== null) matches.push({ endpoint, ...named });
  }
  const allowed = matches
    .filter(({ endpoint }) => endpoint.methods.includes(method))
    .toSorted((a, b) => a.spanned - b.spanned || Object.keys(a.path).length - Object.keys(b.path).length)[0];
  if (allowed !== undefined) return { kind: 'found', endpoint: allowed.endpoint, path: allowed.path };
  if (matches.length === 0) return { kind: 'unknown' };
  return { kind: 'method', allowed: [...new Set(matches.flatMap(({ endpoint }) => endpoint.methods))] };
}

function partsOf(path: string): Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const text of path.split('/')) {
    if (text !== '') parts.push({ text, from });
    from += text.length + 1;
  }
  return parts;
}

function match(pattern: readonly string[], parts: readonly Part[], whole: string): Named | null {
  const wide = pattern.findIndex((word) => word.endsWith('*'));
  const spanned = parts.length - pattern.length;
  if (spanned < 0 || (spanned > 0 && wide === -1)) return null;
  const path: Record<string, string> = {};
  for (const [index, word] of pattern.entries()) {
    const isWide = index === wide;
    const first = parts[wide !== -1 && index > wide ? index + spanned : index];
    const last = isWide ? parts[index + spanned] : first;
    if (first === undefined || last === undefined) return null;
    if (!word.startsWith(':')) {
      if (word !== first.text) return null;
      continue;
    }
    const decoded = decode(whole.slice(first.from, last.from + last.text.length));
    if (decoded === null) return null;
    path[word.slice(1, isWide ? -1 : undefined)] = decoded;
  }
  return { path, spanned: wide === -1 ? 0 : spanned };
}

function decode(part: string): string | null {
  try {
    return storable(decodeURIComponent(part));
  } catch {
    return null;
  }
}
