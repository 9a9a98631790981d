/** Escapes a cell of RFC 4180: an apostrophe before a text that a spreadsheet would take for a formula makes it text again. */
export function toCell(text: string | null): string {
  const harmless = /^[\s]*[=+\-@]/.test(text ?? '') ? `'${text}` : (text ?? '');
  return /[",\r\n]/.test(harmless) || harmless !== harmless.trim() ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
