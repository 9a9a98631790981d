import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes, scryptSync } from 'node:crypto';
import { once } from 'node:events';
import type { Writable } from 'node:stream';

import { AppError } from '#kernel/errors.ts';
import { ByteReader } from '#entry/backup/byte_reader.ts';

/**
 * Format of the outer layer of an archive: one line that says how it is sealed, then chunks. Each chunk has its length,
 * its bytes and a tag that depends on the line, on its position and on whether it is the last one, so that a changed,
 * missing, moved or truncated chunk is detected. With a key the chunks are encrypted by AES-256-GCM; without one the
 * tag is a chain of SHA-256, which detects damage but not forgery.
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
