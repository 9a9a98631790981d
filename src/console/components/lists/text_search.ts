import { SEARCH_LENGTH_MAX } from '#modules/pages/decide/limits.ts';

/** Search text of a list in an address. */
export interface TextSearch {
  readonly q?: string;
}

/** Reads the search text. The router parses digits as a number. */
export function readTextSearch({ q }: Record<string, unknown>): TextSearch {
  const isText = typeof q === 'number' || (typeof q === 'string' && q.trim() !== '');
  return isText ? { q: String(q).slice(0, SEARCH_LENGTH_MAX) } : {};
}
