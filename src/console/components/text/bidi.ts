/** Characters that change the direction of the text after them, or end an isolation. */
const BIDI_CONTROLS = /[\u202A-\u202E\u2066-\u2069]/g;

/** Letters of scripts that are written from right to left. */
const RIGHT_TO_LEFT = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;

export function withoutBidiControls(text: string): string {
  return text.replaceAll(BIDI_CONTROLS, '');
}

/** Isolates a name within plain text, such as an option of a select, so that the text around it keeps its direction. */
export function isolateBidi(name: string): string {
  const plain = withoutBidiControls(name);
  return RIGHT_TO_LEFT.test(plain) ? `\u2068${plain}\u2069` : plain;
}
