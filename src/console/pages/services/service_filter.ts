/** What the address of the list holds. */
export interface ServiceFilter {
  /** Part of the name or the environment. */
  readonly text?: string | undefined;
  /** The form for a new service is open. */
  readonly create?: true | undefined;
}

const TEXT_LENGTH_MAX = 200;

export function readServiceFilter({ text, create }: Record<string, unknown>): ServiceFilter {
  return {
    ...(isText(text) && { text: String(text).slice(0, TEXT_LENGTH_MAX) }),
    ...(create === true && { create }),
  };
}

/** The router reads digits as a number. */
function isText(value: unknown): value is string | number {
  return typeof value === 'number' || (typeof value === 'string' && value.trim() !== '');
}
