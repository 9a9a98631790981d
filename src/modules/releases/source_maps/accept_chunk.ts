import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import zlib from 'node:zlib';

import { AppError, invalidInput } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Limits } from '#kernel/limit_settings.ts';
import type { UnitOfWorkRuntime } from '#modules/unit_of_work.ts';
import { storesOf } from '#modules/stores.ts';

const gunzip = promisify(zlib.gunzip);

/** Limits on uploads. Clients are told them and keep to them. */
export const UPLOAD_LIMITS = {
  chunkBytes: 2 * 1024 * 1024,
  chunksPerRequest: 4,
  requestBytesMax: 9 * 1024 * 1024,
};

/** A part of a file as it is sent: its name is its checksum. */
export interface SentChunk {
  readonly sha1: string;
  readonly isGzip: boolean;
  readonly content: Buffer;
}

/** Stores parts of uploads until they are complete. A part that was sent before is stored once. */
export async function acceptChunks(
  { db, clock }: Pick<UnitOfWorkRuntime, 'db' | 'clock'>,
  orgId: Id<'org'>,
  chunks: readonly SentChunk[],
  { uploadsWaitingMegabytes }: Pick<Limits, 'uploadsWaitingMegabytes'>,
): Promise<void> {
  const { artifacts } = storesOf(db.session());
  const sizes = await artifacts.chunkSizes(
    orgId,
    chunks.map(({ sha1 }) => sha1),
  );
  const added = chunks.filter(({ sha1 }) => !sizes.has(sha1));
  if (added.length > 0 && (await artifacts.waitingBytes(orgId)) > uploadsWaitingMegabytes * 1_048_576) {
    throw new AppError(
      'rate_limited',
      `more than ${uploadsWaitingMegabytes} MiB of uploads wait to be read; wait until they are, or for a day when they were broken off`,
      { limit: 'uploadsWaitingMegabytes', retryAfterSeconds: 60 },
    );
  }
  for (const { sha1, isGzip, content } of chunks) {
    const plain = isGzip ? await unpack(content) : content;
    if (plain.length > UPLOAD_LIMITS.chunkBytes) throw tooLarge();
    if (createHash('sha1').update(plain).digest('hex') !== sha1) {
      throw invalidInput([{ path: sha1, message: 'the part is not what its checksum says; send it again' }]);
    }
    await artifacts.addChunk({ orgId, sha1, size: plain.length, content: plain, createdAt: clock.now() });
  }
}

async function unpack(content: Buffer): Promise<Buffer> {
  try {
    return await gunzip(content, { maxOutputLength: UPLOAD_LIMITS.chunkBytes });
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge();
    throw invalidInput([{ path: 'file_gzip', message: 'the part is not valid gzip' }]);
  }
}

function tooLarge(): AppError {
  return new AppError('payload_too_large', `a part has at most ${UPLOAD_LIMITS.chunkBytes} bytes`);
}
