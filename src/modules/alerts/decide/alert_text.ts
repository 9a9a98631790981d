/** PostgreSQL stores neither a NUL nor half a surrogate pair. */
export function storable(text: string): string {
  return text
    .toWellFormed()
    .replaceAll('\0', '\u{FFFD}')
    .replaceAll(String.raw`\u0000`, String.raw`\ufffd`);
}

/** The first characters of a text, none of them halved. */
export function wholeCharacters(text: string, length: number): string {
  const end = /[\uD800-\uDBFF]/.test(text.charAt(length - 1)) ? length - 1 : length;
  return text.slice(0, end);
}
