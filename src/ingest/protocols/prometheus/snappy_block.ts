import { AppError } from '#kernel/errors.ts';

/**
 * Inflates one snappy block (no framing). The declared length is held against `bytesMax` before anything is allocated,
 * and each step against that length, so work and memory are bounded by it. `payload_too_large` or `invalid_input`.
 * The npm package snappyjs never returns on a ten-byte body, and the native one needs a binary per platform while
 * being no faster on bodies of this size.
 */
export function inflateSnappyBlock(block: Buffer, bytesMax: number): Buffer {
  const header = readLength(block);
  if (header.length > bytesMax) {
    throw new AppError(
      'payload_too_large',
      `the body holds ${header.length} bytes once inflated, at most ${bytesMax} are taken`,
    );
  }
  // No element writes more than 64 bytes for each 3 it takes, so a length beyond that is a lie.
  if (header.length > block.length * 64) throw corrupt('the declared length cannot be reached');
  const out = Buffer.allocUnsafe(header.length);
  const view = new DataView(out.buffer, out.byteOffset, out.length);
  let pos = header.pos;
  let at = 0;
  while (pos < block.length) {
    const tag = block[pos] ?? 0;
    pos += 1;
    const kind = tag & 3;
    let length = (tag >>> 2) + 1;
    if (kind === 0) {
      if (length > 60) {
        const size = length - 60;
        length = littleEndian(block, pos, size) + 1;
        pos += size;
      }
      if (pos + length > block.length) throw corrupt('a literal is cut off');
      if (at + length > out.length) throw corrupt('it is longer than it declares');
      copyLiteral(block, pos, out, at, length);
      pos += length;
    } else {
      const size = kind === 3 ? 4 : kind;
      let offset = littleEndian(block, pos, size);
      pos += size;
      if (kind === 1) {
        length = ((tag >>> 2) & 7) + 4;
        offset += (tag >>> 5) << 8;
      }
      if (offset === 0 || offset > at) throw corrupt('a copy points outside of what came before');
      if (at + length > out.length) throw corrupt('it is longer than it declares');
      copyBack(view, at, offset, length);
    }
    at += length;
  }
  if (at !== out.length) throw corrupt('it is shorter than it declares');
  return out;
}

/**
 * A copy may overlap itself, which repeats what it overlaps: so never in steps wider than the distance. The steps are
 * whole numbers: moved as a double, a NaN may lose the bits that mark a series as ended.
 */
function copyBack(view: DataView, at: number, offset: number, length: number): void {
  const end = at + length;
  let i = at;
  if (offset >= 4) for (; i + 4 <= end; i += 4) view.setUint32(i, view.getUint32(i - offset));
  for (; i < end; i += 1) view.setUint8(i, view.getUint8(i - offset));
}

const LITERAL_LOOP_MAX = 48;

function copyLiteral(block: Buffer, pos: number, out: Buffer, at: number, length: number): void {
  if (length > LITERAL_LOOP_MAX) block.copy(out, at, pos, pos + length);
  else for (let i = 0; i < length; i += 1) out[at + i] = block[pos + i] ?? 0;
}

function readLength(block: Buffer): { length: number; pos: number } {
  let length = 0;
  for (let pos = 0; pos < 5; pos += 1) {
    const byte = block[pos];
    if (byte === undefined) break;
    length += (byte & 0x7f) * 128 ** pos;
    if (byte < 0x80) return { length, pos: pos + 1 };
  }
  throw corrupt('it does not begin with a length');
}

function littleEndian(block: Buffer, pos: number, size: number): number {
  if (pos + size > block.length) throw corrupt('it ends in the middle of an element');
  let value = 0;
  for (let i = size - 1; i >= 0; i -= 1) value = value * 256 + (block[pos + i] ?? 0);
  return value;
}

function corrupt(fault: string): AppError {
  return new AppError('invalid_input', `the body is no snappy block: ${fault}`);
}
