import { SEARCH_LENGTH_MAX } from '#core/console/limits.ts';

/** What the address of the list holds. */
export interface ServiceFilter {
  /** Part of the name or the environment. */
  readonly text?: string | undefined;
  /** The form for a new service is open. */
  readonly create?: true | undefined;
}

export function readServiceFilter({ text, create }: Record<string, unknown>): ServiceFilter {
  return {
    ...(isText(text) && { text: String(text).slice(0, SEARCH_LENGTH_MAX) }),
    ...(create === true && { create }),
  };
}

/** The router reads digits as a number. */
function isText(value: unknown): value is string | number {
  return typeof value === 'number' || (typeof value === 'string' && value.trim() !== '');
}
