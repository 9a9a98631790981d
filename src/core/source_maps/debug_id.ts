/** A debug id in one form: 32 lower hex digits. Null for anything else. */
export function debugIdOf(text: unknown): string | null {
  if (typeof text !== 'string' || text.length > 50) return null;
  const digits = text.replaceAll('-', '').toLowerCase();
  // Programs add an age to those of native code; nothing follows those of source maps.
  return /^[0-9a-f]{32}$/.test(digits) ? digits : null;
}
