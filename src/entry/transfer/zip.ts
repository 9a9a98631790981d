import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createDeflateRaw } from 'node:zlib';

/** File of an archive. Its content is read once, before the next file is asked for. */
export interface ZippedFile {
  readonly name: string;
  readonly content: AsyncIterable<string>;
}

interface Entry {
  readonly name: Buffer;
  readonly crc: number;
  readonly bytes: number;
  readonly packedBytes: number;
  readonly offset: number;
}

/** Version of the format that has 64-bit sizes. */
const VERSION = 45;
/** Sizes stand behind each content, and names are UTF-8. */
const FLAGS = 0x08_08;
const DEFLATED = 8;
/** 1980-01-01, where the format's dates begin: the manifest says when the export was made. */
const DATE = 0x21;
/** Stands for a number of 64 bits elsewhere. */
const ELSEWHERE = 0xff_ff_ff_ff;

/**
 * Yields a ZIP archive of the files while they are read, whatever sizes they have (ZIP64). Without its end, which comes
 * last, nothing opens it: a broken download is never taken for a whole one. yazl 3.3.1 takes half as much processor time
 * again (0.6 s for 70 MB instead of 0.4 s), and fflate 0.8.3 writes no ZIP64.
 */
export async function* zipOf(files: AsyncIterable<ZippedFile>): AsyncGenerator<Buffer> {
  const entries: Entry[] = [];
  let offset = 0;
  for await (const file of files) {
    const name = Buffer.from(file.name);
    const head = headOf(0x04_03_4b_50, [], { name, crc: 0, bytes: ELSEWHERE, packedBytes: ELSEWHERE }, numbers64(0, 0));
    yield head;
    let [crc, bytes, packedBytes] = [0, 0, 0];
    const measured = async function* (): AsyncGenerator<Buffer> {
      for await (const text of file.content) {
        const chunk = Buffer.from(text);
        crc = crc32(chunk, crc);
        bytes += chunk.length;
        yield chunk;
      }
    };
    const packing = createDeflateRaw();
    const feeding = pipeline(Readable.from(measured()), packing);
    // Its failure is thrown to the reader of what it feeds.
    feeding.catch(() => {});
    for await (const chunk of packing as AsyncIterable<Buffer>) {
      packedBytes += chunk.length;
      yield chunk;
    }
    await feeding;
    const sizes = Buffer.concat([numbers32(0x08_07_4b_50, crc), numbers64(packedBytes, bytes)]);
    yield sizes;
    entries.push({ name, crc, bytes, packedBytes, offset });
    offset += head.length + packedBytes + sizes.length;
  }
  const directory = Buffer.concat(entries.map(directoryEntryOf));
  yield directory;
  yield endOf(entries.length, directory.length, offset);
}

function directoryEntryOf({ name, crc, bytes, packedBytes, offset }: Entry): Buffer {
  const sizes = numbers64(bytes, packedBytes, offset);
  return headOf(
    0x02_01_4b_50,
    [VERSION],
    { name, crc, bytes: ELSEWHERE, packedBytes: ELSEWHERE },
    sizes,
    Buffer.concat([numbers16(0, 0, 0), numbers32(0, ELSEWHERE)]),
  );
}

/** Returns the head of a file, at its place or in the directory, where `place` says where it is. */
function headOf(
  signature: number,
  versions: readonly number[],
  { name, crc, bytes, packedBytes }: Omit<Entry, 'offset'>,
  numbers: Buffer,
  place: Buffer = Buffer.alloc(0),
): Buffer {
  return Buffer.concat([
    numbers32(signature),
    numbers16(...versions, VERSION, FLAGS, DEFLATED, 0, DATE),
    numbers32(crc, packedBytes, bytes),
    numbers16(name.length, numbers.length + 4),
    place,
    name,
    numbers16(1, numbers.length),
    numbers,
  ]);
}

function endOf(count: number, directoryBytes: number, offset: number): Buffer {
  return Buffer.concat([
    numbers32(0x06_06_4b_50),
    numbers64(44),
    numbers16(VERSION, VERSION),
    numbers32(0, 0),
    numbers64(count, count, directoryBytes, offset),
    numbers32(0x07_06_4b_50, 0),
    numbers64(offset + directoryBytes),
    numbers32(1),
    numbers32(0x06_05_4b_50),
    numbers16(0, 0, 0xff_ff, 0xff_ff),
    numbers32(ELSEWHERE, ELSEWHERE),
    numbers16(0),
  ]);
}

function numbers16(...values: readonly number[]): Buffer {
  return Buffer.from(Uint16Array.from(values).buffer);
}

function numbers32(...values: readonly number[]): Buffer {
  return Buffer.from(Uint32Array.from(values).buffer);
}

function numbers64(...values: readonly number[]): Buffer {
  return Buffer.from(BigUint64Array.from(values.map(BigInt)).buffer);
}
