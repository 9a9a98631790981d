import { SEARCH_LENGTH_MAX } from '#modules/pages/decide/limits.ts';

export interface ServiceFilter {
  /** Search text: part of the name or the environment. */
  readonly text?: string | undefined;
  /** `my_teams`, or the id of a team that owns services. */
  readonly team?: string | undefined;
  /** Whether the form for a new service is open. */
  readonly create?: true | undefined;
}

export function readServiceFilter({ text, team, create }: Record<string, unknown>): ServiceFilter {
  return {
    ...(isText(text) && { text: String(text).slice(0, SEARCH_LENGTH_MAX) }),
    ...(typeof team === 'string' && team !== '' && { team }),
    ...(create === true && { create }),
  };
}

/** Search text of the releases of a service, and the two releases that are compared. */
export interface ReleaseSearch {
  readonly q?: string | undefined;
  readonly after?: string | undefined;
  readonly before?: string | undefined;
}

export function readReleaseSearch({ q, after, before }: Record<string, unknown>): ReleaseSearch {
  return {
    ...(isText(q) && { q: String(q).slice(0, SEARCH_LENGTH_MAX) }),
    ...(isText(after) && { after: String(after).slice(0, SEARCH_LENGTH_MAX) }),
    ...(isText(before) && { before: String(before).slice(0, SEARCH_LENGTH_MAX) }),
  };
}

/** Whether a value of the address is text. The router parses digits as a number. */
function isText(value: unknown): value is string | number {
  return typeof value === 'number' || (typeof value === 'string' && value.trim() !== '');
}
