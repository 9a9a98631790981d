const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', "'": "\\'", '\0': '\\0', '\n': '\\n', '\r': '\\r' };

/** A string literal of ClickHouse. */
export function quoteText(text: string): string {
  return `'${text.replace(/[\\'\0\n\r]/g, (character) => ESCAPES[character] ?? character)}'`;
}

/** A quoted identifier of ClickHouse. */
export function quoteName(name: string): string {
  return `\`${name.replace(/[\\`]/g, (character) => `\\${character}`)}\``;
}
