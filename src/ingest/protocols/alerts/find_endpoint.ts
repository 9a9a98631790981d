import type { AlertEndpoint } from '#ingest/protocols/alerts/alert_protocol.ts';
import { storable } from '#modules/alerts/decide/alert_text.ts';

/** The endpoint of an address, with the parts of the path that it names; or why there is none. */
export type EndpointMatch =
  | { readonly kind: 'found'; readonly endpoint: AlertEndpoint; readonly path: Readonly<Record<string, string>> }
  | { readonly kind: 'method'; readonly allowed: readonly string[] }
  | { readonly kind: 'unknown' };

/**
 * Finds the endpoint of a path below `/api/alerts`. A last slash and doubled ones mean nothing, so that no client is ever
 * redirected; `%2F` is part of a name. Words come before names.
 */
export function findEndpoint(endpoints: readonly AlertEndpoint[], method: string, path: string): EndpointMatch {
  const parts = path.split('/').filter((part) => part !== '');
  const matches = endpoints.flatMap((endpoint) => {
    const named = match(endpoint.pattern.split('/'), parts);
    return named === null ? [] : [{ endpoint, path: named }];
  });
  const found = matches
    .filter(({ endpoint }) => endpoint.methods.includes(method))
    .toSorted((a, b) => Object.keys(a.path).length - Object.keys(b.path).length)[0];
  if (found !== undefined) return { kind: 'found', ...found };
  if (matches.length === 0) return { kind: 'unknown' };
  return { kind: 'method', allowed: [...new Set(matches.flatMap(({ endpoint }) => endpoint.methods))] };
}

function match(pattern: readonly string[], parts: readonly string[]): Record<string, string> | null {
  if (pattern.length !== parts.length) return null;
  const named: Record<string, string> = {};
  for (const [index, word] of pattern.entries()) {
    const part = parts[index] ?? '';
    if (!word.startsWith(':')) {
      if (word !== part) return null;
      continue;
    }
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
