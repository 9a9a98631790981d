/** The form of a call-back: every field once. */
export type Fields = Readonly<Record<string, string>>;

/** Null when a field is there twice, or there is no form. */
export function parseFields(body: unknown): Fields | null {
  if (typeof body !== 'object' || body === null) return null;
  const entries = Object.entries(body);
  return entries.every((entry): entry is [string, string] => typeof entry[1] === 'string')
    ? Object.fromEntries(entries)
    : null;
}
