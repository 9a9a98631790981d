/** A longer text is made sooner by Node. */
const SHORT_BYTES_MAX = 12;
const code = String.fromCharCode;

/** The text of bytes below 0x80. Asking Node for a short one takes longer than everything else that is done with it. */
export function asciiText(bytes: Buffer, start: number, end: number): string {
  const length = end - start;
  if (length > SHORT_BYTES_MAX) return bytes.toString('latin1', start, end);
  if (length > 8) return fourAt(bytes, start) + fourAt(bytes, start + 4) + upToFour(bytes, start + 8, length - 8);
  return length > 4 ? fourAt(bytes, start) + upToFour(bytes, start + 4, length - 4) : upToFour(bytes, start, length);
}

function fourAt(bytes: Buffer, at: number): string {
  return code(bytes[at] ?? 0, bytes[at + 1] ?? 0, bytes[at + 2] ?? 0, bytes[at + 3] ?? 0);
}

function upToFour(bytes: Buffer, at: number, length: number): string {
  if (length === 4) return fourAt(bytes, at);
  if (length === 3) return code(bytes[at] ?? 0, bytes[at + 1] ?? 0, bytes[at + 2] ?? 0);
  if (length === 2) return code(bytes[at] ?? 0, bytes[at + 1] ?? 0);
  return length === 1 ? code(bytes[at] ?? 0) : '';
}
