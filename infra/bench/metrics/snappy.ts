const HASH_BITS = 14;
/** The farthest offset of a copy with two bytes. */
const REACH = 65_535;
const COPY_MAX = 64;
const MATCH_MIN = 4;
const LITERAL_MAX = 65_536;

/** One snappy block, as remote write needs it, by a greedy search; about as small as those of common libraries. */
export function deflateSnappyBlock(plain: Buffer): Buffer {
  const out = Buffer.allocUnsafe(plain.length + Math.ceil(plain.length / 6) + 32);
  const latest = new Int32Array(1 << HASH_BITS).fill(-1);
  const lastStart = plain.length - MATCH_MIN;
  let end = writeLength(out, plain.length);
  let literal = 0;
  for (let at = 0; at <= lastStart;) {
    const word = plain.readUInt32LE(at);
    const slot = Math.imul(word, 0x1e35a7bd) >>> (32 - HASH_BITS);
    const seen = latest[slot] ?? -1;
    latest[slot] = at;
    if (seen < 0 || at - seen > REACH || plain.readUInt32LE(seen) !== word) {
      at += 1;
      continue;
    }
    let length = MATCH_MIN;
    while (at + length < plain.length && plain[seen + length] === plain[at + length]) length += 1;
    end = writeLiteral(out, end, plain.subarray(literal, at));
    end = writeCopy(out, end, at - seen, length);
    at += length;
    literal = at;
  }
  // A copy, because most of the buffer is unused.
  return Buffer.from(out.subarray(0, writeLiteral(out, end, plain.subarray(literal))));
}

function writeLength(out: Buffer, length: number): number {
  let end = 0;
  let rest = length;
  for (; rest >= 0x80; rest >>>= 7) end = out.writeUInt8((rest & 0x7f) | 0x80, end);
  return out.writeUInt8(rest, end);
}

function writeLiteral(out: Buffer, start: number, bytes: Buffer): number {
  let end = start;
  for (let from = 0; from < bytes.length; from += LITERAL_MAX) {
    const part = bytes.subarray(from, from + LITERAL_MAX);
    const last = part.length - 1;
    if (last < 60) end = out.writeUInt8(last << 2, end);
    else end = out.writeUInt16LE(last, out.writeUInt8(61 << 2, end));
    end += part.copy(out, end);
  }
  return end;
}

function writeCopy(out: Buffer, start: number, offset: number, length: number): number {
  let end = start;
  for (let rest = length; rest > 0;) {
    const part = Math.min(rest, COPY_MAX);
    end = out.writeUInt16LE(offset, out.writeUInt8(((part - 1) << 2) | 2, end));
    rest -= part;
  }
  return end;
}
