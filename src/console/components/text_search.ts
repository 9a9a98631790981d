import { SEARCH_LENGTH_MAX } from '#core/console/limits.ts';

/** The text that a list is searched for, as the address holds it. */
export interface TextSearch {
  readonly q?: string;
}

/** The router reads digits as a number. */
export function readTextSearch({ q }: Record<string, unknown>): TextSearch {
  const isText = typeof q === 'number' || (typeof q === 'string' && q.trim() !== '');
  return isText ? { q: String(q).slice(0, SEARCH_LENGTH_MAX) } : {};
}
