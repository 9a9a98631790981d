import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { Busboy } from '@fastify/busboy';

import { nextTurn } from '#kernel/event_loop_turns.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';

/** Bytes parsed per turn of the event loop: even the most expensive input of this size takes only some milliseconds. */
const SLICE_BYTES = 256 * 1024;

interface FormFile {
  readonly field: string;
  readonly fileName: string;
  readonly content: Buffer;
}

/** Returns the files of a form with at most `partsMax` parts. Other requests are served while it is read. */
export async function filesOf(body: unknown, contentType: string | undefined, partsMax: number): Promise<FormFile[]> {
  if (!Buffer.isBuffer(body) || contentType === undefined) {
    throw new AppError('unsupported_media_type', 'send the parts as content-type: multipart/form-data');
  }
  const files: FormFile[] = [];
  try {
    const form = new Busboy({ headers: { 'content-type': contentType }, limits: { parts: partsMax } });
    form.on('file', (field, file, fileName) => {
      const chunks: Buffer[] = [];
      file.on('data', (chunk: Buffer) => void chunks.push(chunk));
      // The form's own error follows.
      file.on('error', () => {});
      file.on('end', () => void files.push({ field, fileName, content: Buffer.concat(chunks) }));
    });
    form.on('partsLimit', () =>
      form.destroy(new AppError('payload_too_large', `send at most ${partsMax} parts in a request`)),
    );
    await pipeline(Readable.from(slicesOf(body)), form);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw invalidInput([{ path: '', message: 'the form cannot be read' }]);
  }
  return files;
}

async function* slicesOf(bytes: Buffer): AsyncIterable<Buffer> {
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    if (at > 0) await nextTurn();
    yield bytes.subarray(at, at + SLICE_BYTES);
  }
}
