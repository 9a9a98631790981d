import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import zlib from 'node:zlib';

import { AppError, invalidInput } from '#kernel/errors.ts';
import { type Id, newId } from '#kernel/ids.ts';
import type { Limits } from '#kernel/limit_settings.ts';
import { Temporal } from '#kernel/time.ts';
import type { ReleaseRuntime, Requester } from '#modules/releases/deploys.ts';
import type { BundleRow } from '#modules/releases/store/artifact_store.ts';
import { inUnitOfWork, storesOf, type UnitOfWork, type UnitOfWorkRuntime } from '#modules/stores.ts';
import { assembleBundle } from '#storage/queue/jobs.ts';

/** An upload that its client says is complete. */
interface Upload {
  readonly checksum: string;
  /** Checksums of its parts, in order. */
  readonly chunks: readonly string[];
  readonly serviceIds: readonly Id<'service'>[];
  readonly release: string | null;
  readonly dist: string | null;
}

/** Progress of an upload, in the terms of its protocol. */
interface UploadProgress {
  readonly state: 'not_found' | 'created' | 'ok' | 'error';
  readonly missingChunks: readonly string[];
  readonly detail: string | null;
}

/** Returns which parts are missing; once none is, has the upload read. Called again, it returns the result. */
export async function askForAssembly(
  runtime: ReleaseRuntime,
  requester: Requester,
  upload: Upload,
  { uploadMegabytes }: Pick<Limits, 'uploadMegabytes'>,
): Promise<UploadProgress> {
  const { orgId } = requester;
  const { artifacts } = storesOf(runtime.db.session());
  const bundle = await artifacts.findBundle(orgId, keyOf(upload));
  if (bundle !== null && !isToBeReadAgain(bundle, runtime.clock.now())) {
    await artifacts.markUsed([bundle.id], runtime.clock.now());
    return progressOf(bundle);
  }
  return await inUnitOfWork<UploadProgress>(runtime, async (unit) => {
    await unit.stores.artifacts.lockChunks(orgId);
    const sizes = await unit.stores.artifacts.chunkSizes(orgId, upload.chunks);
    const missingChunks = [...new Set(upload.chunks)].filter((sha1) => !sizes.has(sha1));
    if (missingChunks.length > 0) return { state: 'not_found', missingChunks, detail: null };
    const bytes = upload.chunks.reduce((sum, sha1) => sum + (sizes.get(sha1) ?? 0), 0);
    if (bytes > uploadMegabytes * 1_048_576) {
      throw new AppError('payload_too_large', `an upload has at most ${uploadMegabytes} MiB; split it`, {
        limit: 'uploadMegabytes',
      });
    }
    if (bundle !== null) await unit.stores.artifacts.removeBundle(bundle.id);
    await addBundle(unit, requester, upload, bytes);
    return { state: 'created', missingChunks: [], detail: null };
  });
}

/** Has a complete upload read, unless another request has asked for it first. */
async function addBundle(
  { stores, now, enqueue }: UnitOfWork,
  requester: Requester,
  upload: Upload,
  bytes: number,
): Promise<void> {
  const { orgId } = requester;
  const id = newId('bundle');
  const { checksum, chunks, serviceIds, release, dist } = upload;
  const what = { checksum, serviceIds, release, dist };
  const isNew = await stores.artifacts.insertBundle({
    id,
    orgId,
    key: keyOf(upload),
    ...what,
    chunks,
    state: 'waiting',
    detail: null,
    maps: 0,
    bytes,
    createdAt: now,
    usedAt: now,
  });
  if (!isNew) return;
  await stores.audit.append(
    {
      ...requester,
      action: 'upload_source_maps',
      target: id,
      before: null,
      result: 'done',
      after: { serviceIds, release, dist, bytes },
    },
    now,
  );
  enqueue(assembleBundle, { orgId, bundleId: id });
}

const REFUSED_MINUTES = 5;

/**
 * Returns whether a refused bundle is to be read again, as it may have been damaged in transit. Until some minutes have
 * passed, its client is told of the refusal instead.
 */
function isToBeReadAgain({ state, createdAt }: BundleRow, now: Temporal.Instant): boolean {
  return state === 'refused' && Temporal.Instant.compare(createdAt.add({ minutes: REFUSED_MINUTES }), now) < 0;
}

function progressOf({ state, detail }: BundleRow): UploadProgress {
  switch (state) {
    case 'waiting':
      return { state: 'created', missingChunks: [], detail };
    case 'stored':
      return { state: 'ok', missingChunks: [], detail };
    case 'refused':
      return { state: 'error', missingChunks: [], detail };
  }
}

function keyOf({ checksum, serviceIds, release, dist }: Upload): string {
  const what = JSON.stringify([checksum, [...serviceIds].sort(), release, dist]);
  return createHash('sha256').update(what).digest('hex');
}

const gunzip = promisify(zlib.gunzip);

/** Limits on uploads. Clients are told them and keep to them. */
export const UPLOAD_LIMITS = { chunkBytes: 2 * 1024 * 1024, chunksPerRequest: 4, requestBytesMax: 9 * 1024 * 1024 };

/** A part of a file as it is sent: its name is its checksum. */
interface SentChunk {
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
