export function recordOf<Key extends string, Value>(
  keys: readonly Key[],
  valueOf: (key: Key) => Value,
): Record<Key, Value> {
  return Object.fromEntries(keys.map((key) => [key, valueOf(key)])) as Record<Key, Value>;
}

/**
 * Returns the keys of a record by their type. Only for records that are declared as a whole: others may have more keys
 * than their type says.
 */
export function keysOf<Declared extends object>(record: Declared): (keyof Declared & string)[] {
  return Object.keys(record) as (keyof Declared & string)[];
}

/** Whether parsed JSON is an object, which may have any members. */
export function isRecord(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}
