import type { Writable } from 'node:stream';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';

import { ByteReader } from '#entry/backup/byte_reader.ts';
import { readChunks, ChunkWriter } from '#entry/backup/chunk_stream.ts';
import { AppError } from '#kernel/errors.ts';

/** First part of an archive: identifies the backup. */
export interface Manifest {
  readonly kind: 'manifest';
  /** Id of this backup. */
  readonly id: string;
  /** Version of the program that made the archive. */
  readonly version: string;
  readonly queue: 'redis' | 'postgres';
  /** Migrations applied to the stores. */
  readonly postgresMigrations: readonly string[];
  readonly clickhouseMigrations: readonly string[];
  /** Fingerprint of the APP_SECRET that ingestion keys and other secrets in the rows are encrypted with. */
  readonly secretFingerprint: string;
}

/** Parts of an archive. */
export type Entry =
  | Manifest
  /** APP_SECRET, in encrypted archives only. */
  | { readonly kind: 'secret'; readonly appSecret: string }
  /** Time of the PostgreSQL snapshot, by the clock of the database. */
  | { readonly kind: 'snapshot'; readonly at: string }
  /** Rows of a table, in the text format of COPY. */
  | { readonly kind: 'postgres_table'; readonly table: string; readonly columns: readonly string[] }
  | { readonly kind: 'postgres_sequences'; readonly values: Readonly<Record<string, string>> }
  /** Jobs waiting in the queue that have no row in PostgreSQL, one line of JSON each. */
  | { readonly kind: 'jobs' }
  /** Accepted events that waited on the disk of an API process. */
  | { readonly kind: 'spooled_event' }
  /** Rows in RowBinary, as many as fit into one insert. */
  | { readonly kind: 'clickhouse_rows'; readonly table: string; readonly columns: readonly string[] }
  /** Last entry. */
  | { readonly kind: 'end'; readonly entries: number };

const PIECE_BYTES = 1024 * 1024;
const HEADER_BYTES_MAX = 1024 * 1024;
/** Brotli level 1: takes half the time of the default level, and the result is hardly larger. */
const LEVEL = { params: { 100: 1 } };

/** Writes entries one after another. */
export class ArchiveWriter {
  readonly #out: ChunkWriter;
  #entries = 0;

  private constructor(out: ChunkWriter) {
    this.#out = out;
  }

  static async begin(sink: Writable, key: string | undefined, manifest: Manifest): Promise<ArchiveWriter> {
    const writer = new ArchiveWriter(await ChunkWriter.begin(sink, key));
    await writer.add(manifest);
    return writer;
  }

  get bytes(): number {
    return this.#out.written;
  }

  /** Adds an entry with its content; returns the size of the content before compression. */
  async add(entry: Entry, content: AsyncIterable<Buffer> | Iterable<Buffer> = []): Promise<number> {
    await this.#out.write(withLength(Buffer.from(JSON.stringify(entry))));
    let bytes = 0;
    let waiting: Buffer[] = [];
    let waitingBytes = 0;
    const flush = async (): Promise<void> => {
      if (waitingBytes > 0) await this.#out.write(withLength(zstdCompressSync(Buffer.concat(waiting), LEVEL)));
      waiting = [];
      waitingBytes = 0;
    };
    for await (const part of content) {
      bytes += part.length;
      // A part that is larger than a piece is cut, so that memory stays bounded when it is read.
      for (let at = 0; at < part.length; at += PIECE_BYTES) {
        const piece = part.subarray(at, at + PIECE_BYTES);
        waiting.push(piece);
        waitingBytes += piece.length;
        if (waitingBytes >= PIECE_BYTES) await flush();
      }
    }
    await flush();
    await this.#out.write(Buffer.alloc(4));
    this.#entries += 1;
    return bytes;
  }

  async end(): Promise<void> {
    await this.add({ kind: 'end', entries: this.#entries });
    await this.#out.end();
  }
}

function withLength(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** Entry that is being read. The rest of its content is skipped when the next entry is requested. */
export interface ReadEntry {
  readonly entry: Entry;
  content(): AsyncGenerator<Buffer>;
}

/** Yields the entries of an archive in order, manifest first. Throws `invalid_input` if the archive is incomplete. */
export async function* readArchive(source: AsyncIterable<Buffer>, key: string | undefined): AsyncGenerator<ReadEntry> {
  const sealed = readChunks(source, key);
  const reader = new ByteReader(sealed);
  for (let entries = 0; ; entries += 1) {
    const entry = await readHeader(reader);
    const content = readPieces(reader);
    if (entry.kind === 'end') {
      await drain(content);
      // The tag of the last chunk is checked when its end is reached.
      if ((await reader.read(1)) !== null || entry.entries !== entries) throw unreadable();
      return;
    }
    yield { entry, content: () => content };
    await drain(content);
  }
}

async function readHeader(reader: ByteReader): Promise<Entry> {
  const length = (await reader.read(4))?.readUInt32BE() ?? Infinity;
  const header = length > HEADER_BYTES_MAX ? null : await reader.read(length);
  if (header === null) throw unreadable();
  return JSON.parse(header.toString('utf8')) as Entry;
}

async function* readPieces(reader: ByteReader): AsyncGenerator<Buffer> {
  for (;;) {
    const length = (await reader.read(4))?.readUInt32BE() ?? Infinity;
    if (length === 0) return;
    const piece = length > 2 * PIECE_BYTES + HEADER_BYTES_MAX ? null : await reader.read(length);
    if (piece === null) throw unreadable();
    yield zstdDecompressSync(piece, { maxOutputLength: 2 * PIECE_BYTES });
  }
}

async function drain(content: AsyncGenerator<Buffer>): Promise<void> {
  for (;;) if ((await content.next()).done === true) return;
}

function unreadable(): AppError {
  return new AppError('invalid_input', 'the backup is damaged: take another copy of it; nothing was changed');
}
