import { freeBytes } from '#kernel/free_bytes.ts';

const FIRST_CAPACITY = 64 * 1024;
const VARINT_BYTES_MAX = 5;
/** A shorter text of ASCII is written here: the call to Node takes longer than writing it. */
const SHORT_LENGTH_MAX = 24;
/** Longest UTF-8 form of a UTF-16 unit, in bytes. */
const UNIT_BYTES_MAX = 3;
const TWO_TO_32 = 2 ** 32;

/** Writes values in ClickHouse's RowBinary format, one behind the other, into one buffer that grows. */
export class RowBinary {
  #bytes = Buffer.allocUnsafe(FIRST_CAPACITY);
  #view = viewOf(this.#bytes);
  #end = 0;

  /** Number of bytes written. */
  get length(): number {
    return this.#end;
  }

  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#end);
  }

  /** Writes again what stands from `start` to `end`. */
  repeat(start: number, end: number): void {
    this.#reserve(end - start);
    this.#bytes.copyWithin(this.#end, start, end);
    this.#end += end - start;
  }

  /** Writes a UUID in the form that `uuidBytes` makes. */
  uuid(bytes: Buffer): void {
    this.#reserve(bytes.length);
    for (let i = 0; i < bytes.length; i += 1) this.#bytes[this.#end + i] = bytes[i] ?? 0;
    this.#end += bytes.length;
  }

  uint8(value: number): void {
    this.#reserve(1);
    this.#end = this.#bytes.writeUInt8(value, this.#end);
  }

  uint64(value: bigint): void {
    this.#reserve(8);
    this.#view.setBigUint64(this.#end, value, true);
    this.#end += 8;
  }

  float64(value: number): void {
    this.#reserve(8);
    this.#view.setFloat64(this.#end, value, true);
    this.#end += 8;
  }

  /** An Int64, and so a DateTime64(3), from a whole number. */
  int64(value: number): void {
    this.#reserve(8);
    const high = Math.floor(value / TWO_TO_32);
    this.#view.setUint32(this.#end, value - high * TWO_TO_32, true);
    this.#view.setInt32(this.#end + 4, high, true);
    this.#end += 8;
  }

  /** A String of any content: half a surrogate pair becomes the replacement character. */
  text(text: string): void {
    this.#reserve(VARINT_BYTES_MAX + text.length * UNIT_BYTES_MAX);
    if (text.length <= SHORT_LENGTH_MAX && this.#shortText(text)) return;
    if (text.length * UNIT_BYTES_MAX < 0x80) {
      const length = this.#bytes.write(text, this.#end + 1);
      this.#bytes[this.#end] = length;
      this.#end += 1 + length;
      return;
    }
    this.varint(Buffer.byteLength(text));
    this.#end += this.#bytes.write(text, this.#end);
  }

  /** False, and nothing is written, if it is not ASCII. */
  #shortText(text: string): boolean {
    const bytes = this.#bytes;
    const { length } = text;
    const start = this.#end + 1;
    for (let i = 0; i < length; i += 1) {
      const unit = text.charCodeAt(i);
      if (unit >= 0x80) return false;
      bytes[start + i] = unit;
    }
    bytes[start - 1] = length;
    this.#end = start + length;
    return true;
  }

  /** The length of what follows: of a String, an Array or a Map. */
  varint(value: number): void {
    this.#reserve(VARINT_BYTES_MAX);
    if (value < 0x80) {
      this.#bytes[this.#end] = value;
      this.#end += 1;
      return;
    }
    let rest = value;
    while (rest >= 0x80) {
      this.#end = this.#bytes.writeUInt8((rest & 0x7f) | 0x80, this.#end);
      rest >>>= 7;
    }
    this.#end = this.#bytes.writeUInt8(rest, this.#end);
  }

  #reserve(bytes: number): void {
    const needed = this.#end + bytes;
    if (needed <= this.#bytes.length) return;
    const wider = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(wider, 0, 0, this.#end);
    freeBytes(this.#bytes);
    this.#bytes = wider;
    this.#view = viewOf(wider);
  }
}

function viewOf({ buffer, byteOffset, byteLength }: Buffer): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/** Two halves of eight bytes, each with its least byte first. Takes a UUID with dashes or without. */
export function uuidBytes(uuid: string): Buffer {
  const bytes = Buffer.from(uuid.replaceAll('-', ''), 'hex');
  return Buffer.concat([bytes.subarray(0, 8).reverse(), bytes.subarray(8).reverse()]);
}
