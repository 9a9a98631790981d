/** Returns a debug id in one form: 32 lower hex digits. Null for anything else. */
export function debugIdOf(text: unknown): string | null {
  if (typeof text !== 'string' || text.length > 50) return null;
  const digits = text.replaceAll('-', '').toLowerCase();
  // Debug ids of native code have an age at their end; those of source maps do not.
  return /^[0-9a-f]{32}$/.test(digits) ? digits : null;
}
