import { AppError } from '#kernel/errors.ts';
import type { Steps } from '#kernel/cooperative_task.ts';

/**
 * Inflates one snappy block (no framing). The declared length is checked against `bytesMax` before anything is allocated,
 * and each step against that length, so it limits work and memory. Throws `payload_too_large` or `invalid_input`. The
 * result lies in `scratch` and is valid until the next call.
 *
 * The npm package snappyjs never returns for a certain body of ten bytes; the native one needs a binary per platform and
 * is no faster on bodies of this size.
 */
export function* inflateSnappyBlock(block: Buffer, bytesMax: number, scratch = new ScratchBuffer(0)): Steps<Buffer> {
  const header = readLength(block);
  const outLength = header.length;
  if (outLength > bytesMax) {
    throw new AppError(
      'payload_too_large',
      `the body holds ${outLength} bytes once inflated, at most ${bytesMax} are taken`,
    );
  }
  // No element writes more than 64 bytes for each 3 it takes, so a length beyond that is a lie.
  if (outLength > block.length * 64) throw corrupt('the declared length cannot be reached');
  const end = block.length;
  const { bytes, view: out } = scratch.take(outLength + STEP);
  // While this pauses, another body may use the scratch buffer.
  const mayPause = outLength + STEP > scratch.bytesMax;
  const from = new DataView(block.buffer, block.byteOffset, end);
  let pos = header.pos;
  let at = 0;
  for (let elements = 1; pos < end; elements += 1) {
    if (mayPause && elements % PAUSE_AFTER === 0) yield;
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
      if (pos + length > end) throw corrupt('a literal is cut off');
      if (at + length > outLength) throw corrupt('it is longer than its declared length');
      // Near the end of the block whole steps would read beyond it.
      if (pos + length + STEP > end) block.copy(bytes, at, pos, pos + length);
      else copySteps(from, pos, out, at, length);
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
      if (at + length > outLength) throw corrupt('it is longer than its declared length');
      // A copy that overlaps itself repeats what it overlaps, so its steps must not be wider than the offset.
      if (offset < STEP) repeat(out, offset, at, length);
      else copySteps(out, at - offset, out, at, length);
    }
    at += length;
  }
  if (at !== outLength) throw corrupt('it is shorter than its declared length');
  return bytes.subarray(0, outLength);
}

const STEP = 16;
const PAUSE_AFTER = 65_536;

/**
 * Copies in steps of 16 bytes, and so up to 15 bytes too many: the next element overwrites them, and there is space after
 * the last. Copying byte by byte makes decoding a recorded scrape take 35 % longer, and Buffer.copy twice as long, because most
 * elements are short. The values are integers because a NaN read as a double may lose the bits that mark a stale series.
 */
function copySteps(from: DataView, pos: number, out: DataView, at: number, length: number): void {
  for (let i = 0; i < length; i += STEP) {
    out.setBigInt64(at + i, from.getBigInt64(pos + i, true), true);
    out.setBigInt64(at + i + 8, from.getBigInt64(pos + i + 8, true), true);
  }
}

function repeat(out: DataView, offset: number, at: number, length: number): void {
  for (let i = at; i < at + length; i += 1) out.setUint8(i, out.getUint8(i - offset));
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
  if (size === 2) return (block[pos] ?? 0) | ((block[pos + 1] ?? 0) << 8);
  let value = 0;
  for (let i = size - 1; i >= 0; i -= 1) value = value * 256 + (block[pos + i] ?? 0);
  return value;
}

function corrupt(fault: string): AppError {
  return new AppError('invalid_input', `the body is not a snappy block: ${fault}`);
}

interface Scratch {
  readonly bytes: Buffer;
  /** A view of the same bytes. */
  readonly view: DataView;
}

/**
 * Memory that is reused for one body after the other; each must be finished before the next begins. Reused memory stays
 * in the processor's cache; with new memory for each body, decoding a recorded scrape takes 14 % longer. A body over `bytesMax`
 * gets memory of its own.
 */
export class ScratchBuffer {
  readonly bytesMax: number;
  #shared: Scratch | null = null;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** Returns at least `length` bytes, with arbitrary content. */
  take(length: number): Scratch {
    if (this.#shared !== null && length <= this.#shared.bytes.length) return this.#shared;
    const scratch = allocate(length);
    if (length <= this.bytesMax) this.#shared = scratch;
    return scratch;
  }
}

function allocate(length: number): Scratch {
  const bytes = Buffer.allocUnsafeSlow(length);
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, length) };
}
