/** Lines of a mail that are read: what it is about stands at its beginning, and each costs some 20 µs. */
const LINES_MAX = 2_000;
/** Bytes of a mail that are read: as many as that many lines have in a mail that keeps to RFC 5322. */
const BYTES_MAX = 160 * 1024;
/** Signs by which encodings of text pad and escape. The parser takes time by the square of their number. */
const SIGNS_MAX = 16_000;
/** Bytes of one field of the head; the parser takes time by the square of the length of a list of addresses. */
const FIELD_BYTES_MAX = 4 * 1024;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SIGN = '='.charCodeAt(0);
const BLANKS: ReadonlySet<number | undefined> = new Set([0x20, 0x09]);

/** Returns as much of a mail as the parser takes some milliseconds for, whoever wrote it: its beginning, and of each field of its head the beginning. */
export function boundedMail(mail: Buffer): Buffer {
  const bytes = mail.subarray(0, BYTES_MAX);
  const parts: Buffer[] = [];
  let isHead = true;
  let ofField = 0;
  let signs = 0;
  for (let [at, lines] = [0, 0]; at < bytes.length && lines < LINES_MAX;) {
    const feed = bytes.indexOf(LINE_FEED, at);
    const line = bytes.subarray(at, feed === -1 ? bytes.length : feed + 1);
    at += line.length;
    isHead &&= line[0] !== LINE_FEED && !(line[0] === CARRIAGE_RETURN && line[1] === LINE_FEED);
    if (isHead) {
      if (!BLANKS.has(line[0])) ofField = 0;
      const left = FIELD_BYTES_MAX - ofField;
      ofField += line.length;
      if (left <= 0) continue;
      lines += 1;
      if (left >= line.length) parts.push(line);
      else parts.push(line.subarray(0, left), Buffer.from('\r\n'));
      continue;
    }
    lines += 1;
    const end = endOfSigns(line, SIGNS_MAX - signs);
    parts.push(line.subarray(0, end.at));
    signs += end.signs;
    if (end.at < line.length) break;
  }
  return Buffer.concat(parts);
}

/** Returns where a line has more signs than are left; its end if it has not, and their number. */
function endOfSigns(line: Buffer, left: number): { readonly at: number; readonly signs: number } {
  let signs = 0;
  for (let at = line.indexOf(SIGN); at !== -1; at = line.indexOf(SIGN, at + 1)) {
    if (signs === left) return { at, signs };
    signs += 1;
  }
  return { at: line.length, signs };
}
