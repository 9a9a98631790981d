import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes, scryptSync } from 'node:crypto';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';

import { ByteReader } from '#entry/backup/byte_reader.ts';
import { AppError } from '#kernel/errors.ts';

/**
 * Format of the outer layer of an archive: one line that says how it is sealed, then chunks. Each chunk has its length,
 * its bytes and a tag that depends on the line, on its position and on whether it is the last one, so that a changed,
 * missing, moved or truncated chunk is detected. With a key the chunks are encrypted by AES-256-GCM; without one the
 * tag is a chain of SHA-256, which detects damage but not forgery.
 *
 * age-encryption 0.3.1 takes three times the processor time (0.9 s for 64 MiB, where this takes 0.3 s, nearly all of it
 * for the passphrase), and seals nothing without a key. tar-stream 3.2.2 writes the size of an entry in front of it, and
 * that of a table is known when it has been read.
 */
const FORMAT = 1;
const CHUNK_BYTES = 1024 * 1024;
const TAG_BYTES = 16;
const LINE_BYTES_MAX = 4_096;
const LAST = 0x8000_0000;

/** Parameters of scrypt: it takes a quarter of a second and 64 MiB, so that guessing passphrases is slow. */
const SCRYPT = { N: 65_536, r: 8, p: 1, maxmem: 128 * 1024 * 1024 };

interface Line {
  readonly tocsinBackup: number;
  /** Null for an archive without a key. */
  readonly salt: string | null;
  /** Value that tells a wrong key from a damaged archive. */
  readonly check: string | null;
}

/** Sealer of chunks in order, or opener in order; `open` returns null for a chunk that was altered. */
interface Sealer {
  seal(chunk: Buffer, isLast: boolean): { readonly body: Buffer; readonly tag: Buffer };
  open(body: Buffer, tag: Buffer, isLast: boolean): Buffer | null;
}

export class ChunkWriter {
  readonly #sink: Writable;
  readonly #sealer: Sealer;
  #waiting: Buffer[] = [];
  #bytes = 0;
  /** Bytes of the archive written so far. */
  written = 0;

  private constructor(sink: Writable, sealer: Sealer) {
    this.#sink = sink;
    this.#sealer = sealer;
  }

  static async begin(sink: Writable, key: string | undefined): Promise<ChunkWriter> {
    const salt = key === undefined ? null : randomBytes(16);
    const derived = key === undefined || salt === null ? null : deriveKey(key, salt);
    const line: Line = {
      tocsinBackup: FORMAT,
      salt: salt?.toString('base64') ?? null,
      check: derived === null ? null : checkOf(derived),
    };
    const text = Buffer.from(`${JSON.stringify(line)}\n`);
    const writer = new ChunkWriter(sink, sealerOf(text, derived));
    await writer.#put(text);
    return writer;
  }

  async write(bytes: Buffer): Promise<void> {
    this.#waiting.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes <= CHUNK_BYTES) return;
    const all = Buffer.concat(this.#waiting);
    let at = 0;
    // The last chunk may not be empty, so one is always kept back.
    for (; all.length - at > CHUNK_BYTES; at += CHUNK_BYTES)
      await this.#seal(all.subarray(at, at + CHUNK_BYTES), false);
    this.#waiting = [all.subarray(at)];
    this.#bytes = all.length - at;
  }

  async end(): Promise<void> {
    await this.#seal(Buffer.concat(this.#waiting), true);
  }

  async #seal(chunk: Buffer, isLast: boolean): Promise<void> {
    const { body, tag } = this.#sealer.seal(chunk, isLast);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(isLast ? LAST + body.length : body.length);
    await this.#put(Buffer.concat([length, body, tag]));
  }

  async #put(bytes: Buffer): Promise<void> {
    this.written += bytes.length;
    if (!this.#sink.write(bytes)) await once(this.#sink, 'drain');
  }
}

/** Yields the bytes inside, chunk by chunk. Throws `invalid_input` for a wrong key, or if the archive is incomplete. */
export async function* readChunks(source: AsyncIterable<Buffer>, key: string | undefined): AsyncGenerator<Buffer> {
  const reader = new ByteReader(source);
  const { text, line } = await readLine(reader);
  const sealer = sealerOf(text, keyFor(line, key));
  for (let isLast = false; !isLast;) {
    const length = (await reader.read(4))?.readUInt32BE() ?? null;
    if (length === null) throw damaged('it ends too early');
    isLast = length >= LAST;
    const bytes = isLast ? length - LAST : length;
    if (bytes > CHUNK_BYTES) throw damaged('it was changed');
    const body = await reader.read(bytes);
    const tag = await reader.read(TAG_BYTES);
    if (body === null || tag === null) throw damaged('it ends too early');
    const chunk = sealer.open(body, tag, isLast);
    if (chunk === null) throw damaged('it was changed');
    yield chunk;
  }
  if ((await reader.read(1)) !== null) throw damaged('something was added to its end');
}

async function readLine(reader: ByteReader): Promise<{ text: Buffer; line: Line }> {
  const text = await reader.readLine(LINE_BYTES_MAX);
  const line = text === null ? null : parseLine(text);
  if (text === null || line === null) throw new AppError('invalid_input', 'this is not a backup of Tocsin');
  if (line.tocsinBackup !== FORMAT) {
    throw new AppError(
      'invalid_input',
      `this backup has the format ${line.tocsinBackup}, and this release reads ${FORMAT}: use the release that made it`,
    );
  }
  return { text, line };
}

function parseLine(text: Buffer): Line | null {
  try {
    const line: unknown = JSON.parse(text.toString('utf8'));
    return typeof line === 'object' && line !== null && 'tocsinBackup' in line ? (line as Line) : null;
  } catch {
    return null;
  }
}

function keyFor({ salt, check }: Line, key: string | undefined): Buffer | null {
  if (salt === null) return null;
  if (key === undefined) {
    throw new AppError('invalid_input', 'this backup is encrypted: set BACKUP_KEY, or BACKUP_KEY_FILE, to its key');
  }
  const derived = deriveKey(key, Buffer.from(salt, 'base64'));
  if (checkOf(derived) !== check) {
    throw new AppError('invalid_input', 'BACKUP_KEY is not the key of this backup; nothing was changed');
  }
  return derived;
}

function damaged(how: string): AppError {
  return new AppError('invalid_input', `the backup is damaged (${how}): take another copy of it; nothing was changed`);
}

function deriveKey(key: string, salt: Buffer): Buffer {
  return scryptSync(key, salt, 32, SCRYPT);
}

function checkOf(derived: Buffer): string {
  return createHmac('sha256', derived).update('key check').digest('base64');
}

function sealerOf(line: Buffer, key: Buffer | null): Sealer {
  return key === null ? chained(line) : encrypted(line, key);
}

/** Returns a sealer that encrypts. The key is used for this archive only, so a counter never repeats a nonce. */
function encrypted(line: Buffer, key: Buffer): Sealer {
  let place = 0;
  const nextNonce = (isLast: boolean): Buffer => {
    const nonce = Buffer.alloc(12);
    nonce.writeUInt32BE(place, 4);
    nonce.writeUInt8(isLast ? 1 : 0, 11);
    place += 1;
    return nonce;
  };
  return {
    seal(chunk, isLast) {
      const cipher = createCipheriv('aes-256-gcm', key, nextNonce(isLast)).setAAD(line);
      const body = Buffer.concat([cipher.update(chunk), cipher.final()]);
      return { body, tag: cipher.getAuthTag() };
    },
    open(body, tag, isLast) {
      const decipher = createDecipheriv('aes-256-gcm', key, nextNonce(isLast)).setAAD(line).setAuthTag(tag);
      try {
        return Buffer.concat([decipher.update(body), decipher.final()]);
      } catch {
        return null;
      }
    },
  };
}

function chained(line: Buffer): Sealer {
  let before = createHash('sha256').update(line).digest();
  const next = (body: Buffer, isLast: boolean): Buffer => {
    before = createHash('sha256')
      .update(before)
      .update(isLast ? 'last' : 'more')
      .update(body)
      .digest();
    return before.subarray(0, TAG_BYTES);
  };
  return {
    seal: (chunk, isLast) => ({ body: chunk, tag: next(chunk, isLast) }),
    open: (body, tag, isLast) => (next(body, isLast).equals(tag) ? body : null),
  };
}

/** First part of an archive: identifies the backup. */
export interface Manifest {
  readonly kind: 'manifest';
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
/** Level 1 of zstd: takes half the time of the default level, and the result is hardly larger. */
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
