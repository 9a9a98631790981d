import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import zlib from 'node:zlib';

import { ClickHouseFailure } from './failure.ts';
import { notImplemented } from './request.ts';

/** Largest size of a statement, which is held in memory. */
const TEXT_BYTES_MAX = 32 * 1024 * 1024;

/** The decompressed body; throws as soon as it is too long. */
export async function* readUnpacked(req: IncomingMessage, bytesMax: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of unpack(req)) {
    bytes += chunk.length;
    if (bytes > bytesMax) {
      throw new ClickHouseFailure(1003, 'REQUEST_TOO_LARGE', `The body is longer than ${bytesMax} bytes`);
    }
    yield chunk;
  }
}

/** Abandoning the body must not close the socket: the refusal is still to be sent on it. */
function unpack(req: IncomingMessage): AsyncIterable<Buffer> {
  const encoding = req.headers['content-encoding'];
  if (encoding === undefined || encoding === 'identity') return req.iterator({ destroyOnReturn: false });
  const unpacker = unpackerOf(encoding);
  req.once('error', (error) => unpacker.destroy(error));
  return req.pipe(unpacker);
}

function unpackerOf(encoding: string) {
  if (encoding === 'gzip') return zlib.createGunzip();
  if (encoding === 'deflate') return zlib.createInflate();
  if (encoding === 'br') return zlib.createBrotliDecompress();
  if (encoding === 'zstd') return zlib.createZstdDecompress();
  throw notImplemented(`the content encoding ${encoding}`);
}

/** The body as text; of a form, as clients send long parameters, its field `query` and what follows from the others. */
export async function readText(req: IncomingMessage, setParameter: (name: string, value: string) => void) {
  const chunks: Buffer[] = [];
  for await (const chunk of readUnpacked(req, TEXT_BYTES_MAX)) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const type = req.headers['content-type'] ?? '';
  if (!type.startsWith('multipart/form-data')) return body.toString();
  const form = await new Response(body, { headers: { 'content-type': type } }).formData();
  let query = '';
  for (const [name, value] of form) {
    if (typeof value !== 'string') throw notImplemented('files in forms');
    if (name === 'query') query = value;
    else setParameter(name, value);
  }
  return query;
}

/**
 * Writes rows to a temporary file, uses it and removes it: first the rows in the statement's own text, then those in
 * the body. `isEmpty` says that there were none.
 */
export async function withRowsFile<Result>(
  folder: string,
  rowsInText: string,
  rowsInBody: AsyncIterable<Buffer> | readonly Buffer[],
  use: (file: string, isEmpty: boolean) => Promise<Result>,
): Promise<Result> {
  const file = path.join(folder, `${randomUUID()}.rows`);
  let isEmpty = rowsInText === '';
  async function* rows() {
    if (rowsInText !== '') yield Buffer.from(rowsInText);
    for await (const chunk of rowsInBody) {
      isEmpty = false;
      yield chunk;
    }
  }
  try {
    await pipeline(rows, createWriteStream(file, { flags: 'wx', mode: 0o600 }));
    return await use(file, isEmpty);
  } finally {
    await rm(file, { force: true });
  }
}
