import { isUtf8 } from 'node:buffer';

import { asciiText } from '#ingest/protocols/body/ascii_text.ts';

export const NOT_UTF8 = 'a text that is not UTF-8';

/** The text, or null if the bytes are not UTF-8: replacement characters would make different texts equal. */
export function decodeText(bytes: Buffer, start: number, end: number): string | null {
  for (let i = start; i < end; i += 1) {
    if ((bytes[i] ?? 0) < 0x80) continue;
    return isUtf8(bytes.subarray(start, end)) ? bytes.toString('utf8', start, end) : null;
  }
  return asciiText(bytes, start, end);
}
