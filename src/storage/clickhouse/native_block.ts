/** A column in the bytes of ClickHouse's Native format. */
export interface NativeColumn {
  readonly name: string;
  readonly type: string;
  readonly parts: readonly Uint8Array[];
}

/** Smaller parts are joined: each part of a block is a write to the socket. */
const LARGE_BYTES = 64 * 1024;

/**
 * A block in ClickHouse's Native format, which is column by column what the server has in memory: it is read several
 * times faster than rows. Numbers have their least byte first, as on every machine that this runs on. The block is in parts, to be
 * sent one after the other: large columns are not copied, so they must not change before that is done.
 */
export function nativeBlock(rows: number, columns: readonly NativeColumn[]): Uint8Array[] {
  const parts = columns.flatMap(({ name, type, parts: data }) => [nativeText(name), nativeText(type), ...data]);
  const block: Uint8Array[] = [];
  let small: Uint8Array[] = [nativeVarint(columns.length), nativeVarint(rows)];
  for (const part of parts) {
    if (part.length < LARGE_BYTES) small.push(part);
    else {
      if (small.length > 0) block.push(Buffer.concat(small));
      small = [];
      block.push(part);
    }
  }
  if (small.length > 0) block.push(Buffer.concat(small));
  return block;
}

/** A LowCardinality(String): each row is the number of one of the texts, which are all different. */
export function lowCardinality(texts: readonly string[], numbers: Uint32Array): Uint8Array[] {
  return [
    uint64(KEYS_IN_EACH_BLOCK),
    uint64(INDEXES_OF_32_BITS | HAS_KEYS),
    uint64(texts.length),
    ...texts.map(nativeText),
    uint64(numbers.length),
    bytesOf(numbers),
  ];
}

/** The memory of a typed array. */
export function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

const KEYS_IN_EACH_BLOCK = 1;
const INDEXES_OF_32_BITS = 2;
const HAS_KEYS = 1 << 9;

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE(value);
  return bytes;
}

function nativeText(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([nativeVarint(bytes.length), bytes]);
}

function nativeVarint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest);
  return Buffer.from(bytes);
}
