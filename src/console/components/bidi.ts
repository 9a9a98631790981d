/** Characters that turn the direction of whatever follows them, or end what keeps it from doing so. */
const DIRECTIONS = /[\u202A-\u202E\u2066-\u2069]/g;

/** Letters that are written from right to left. */
const FROM_RIGHT = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;

export function withoutBidiControls(text: string): string {
  return text.replaceAll(DIRECTIONS, '');
}

/** A name within a text that can hold no elements, such as an option: it turns nothing around it. */
export function isolateBidi(name: string): string {
  const plain = withoutBidiControls(name);
  return FROM_RIGHT.test(plain) ? `\u2068${plain}\u2069` : plain;
}
