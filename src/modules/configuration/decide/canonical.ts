/** Returns the JSON text of a value with sorted properties, so that equal values have equal texts. */
export function canonicalText(value: unknown): string {
  return JSON.stringify(sorted(value)) ?? 'undefined';
}

export function isSame(a: unknown, b: unknown): boolean {
  return a === b || canonicalText(a) === canonicalText(b);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value as Readonly<Record<string, unknown>>).filter(([, inner]) => inner !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, inner]) => [name, sorted(inner)]));
}
