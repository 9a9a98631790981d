const FIRST_CAPACITY = 64 * 1024;
const VARINT_BYTES_MAX = 5;
/** Of a UTF-16 unit in UTF-8. */
const UNIT_BYTES_MAX = 3;
const TWO_TO_32 = 2 ** 32;

/** Writes values in ClickHouse's RowBinary format, one behind the other, into one buffer that grows. */
export class RowBinary {
  #bytes = Buffer.allocUnsafe(FIRST_CAPACITY);
  #end = 0;

  /** How much has been written. */
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

  /** As `uuidBytes` makes it. */
  uuid(bytes: Buffer): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#end);
    this.#end += bytes.length;
  }

  uint8(value: number): void {
    this.#reserve(1);
    this.#end = this.#bytes.writeUInt8(value, this.#end);
  }

  uint64(value: bigint): void {
    this.#reserve(8);
    this.#end = this.#bytes.writeBigUInt64LE(value, this.#end);
  }

  float64(value: number): void {
    this.#reserve(8);
    this.#end = this.#bytes.writeDoubleLE(value, this.#end);
  }

  /** An Int64, and so a DateTime64(3), from a whole number. */
  int64(value: number): void {
    this.#reserve(8);
    const low = this.#bytes.writeUInt32LE(((value % TWO_TO_32) + TWO_TO_32) % TWO_TO_32, this.#end);
    this.#end = this.#bytes.writeInt32LE(Math.floor(value / TWO_TO_32), low);
  }

  /** A String of any content: half a surrogate pair becomes the replacement character. */
  text(text: string): void {
    this.#reserve(VARINT_BYTES_MAX + text.length * UNIT_BYTES_MAX);
    if (text.length * UNIT_BYTES_MAX < 0x80) {
      const length = this.#bytes.write(text, this.#end + 1);
      this.#bytes[this.#end] = length;
      this.#end += 1 + length;
      return;
    }
    this.varint(Buffer.byteLength(text));
    this.#end += this.#bytes.write(text, this.#end);
  }

  /** The length of what follows: of a String, an Array or a Map. */
  varint(value: number): void {
    this.#reserve(VARINT_BYTES_MAX);
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
    this.#bytes = wider;
  }
}

/** Two halves of eight bytes, each with its least byte first. Takes a UUID with dashes or without. */
export function uuidBytes(uuid: string): Buffer {
  const bytes = Buffer.from(uuid.replaceAll('-', ''), 'hex');
  return Buffer.concat([bytes.subarray(0, 8).reverse(), bytes.subarray(8).reverse()]);
}
