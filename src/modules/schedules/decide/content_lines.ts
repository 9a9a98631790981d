/** Longest line of iCalendar (RFC 5545, 3.1) and vCard, in bytes. */
const LINE_BYTES_MAX = 75;

/** Characters besides CR and LF that programs take for the end of a line. */
const LINE_BREAKS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

/** Returns text of people as a value of a line: nothing in it begins another line, or another value. */
export function escapeLineText(text: string): string {
  return onOneLine(text).replaceAll(/[\\,;]/g, String.raw`\$&`);
}

export function onOneLine(text: string): string {
  return text.replaceAll(LINE_BREAKS, ' ').trim();
}

/** Folds a line: what follows a line break and a space continues it. No character is cut. */
export function foldLine(line: string): string {
  const parts: string[] = [];
  let part = '';
  let bytes = 0;
  for (const character of line) {
    const size = Buffer.byteLength(character);
    if (bytes + size > LINE_BYTES_MAX) {
      parts.push(part);
      part = ' ';
      bytes = 1;
    }
    part += character;
    bytes += size;
  }
  return [...parts, part].join('\r\n');
}
