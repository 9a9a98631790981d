import { createHash } from 'node:crypto';

import { assembleBundle } from '#storage/queue/jobs/assemble_bundle.ts';
import { AppError } from '#kernel/errors.ts';
import { type Id, newId } from '#kernel/ids.ts';
import type { Limits } from '#kernel/limit_settings.ts';
import { Temporal } from '#kernel/time.ts';
import type { ReleaseRuntime, Requester } from '#modules/releases/requester.ts';
import type { BundleRow } from '#modules/releases/store/artifact_store.ts';
import { storesOf } from '#modules/stores.ts';
import { inUnitOfWork } from '#modules/unit_of_work.ts';

/** An upload that its client says is complete. */
export interface Upload {
  readonly checksum: string;
  /** Checksums of its parts, in order. */
  readonly chunks: readonly string[];
  readonly serviceIds: readonly Id<'service'>[];
  readonly release: string | null;
  readonly dist: string | null;
}

/** Progress of an upload, in the terms of its protocol. */
export interface UploadProgress {
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
  const key = keyOf(upload);
  const bundle = await artifacts.findBundle(orgId, key);
  if (bundle !== null && !isToBeReadAgain(bundle, runtime.clock.now())) {
    await artifacts.markUsed([bundle.id], runtime.clock.now());
    return progressOf(bundle);
  }
  const sizes = await artifacts.chunkSizes(orgId, upload.chunks);
  const missingChunks = [...new Set(upload.chunks)].filter((sha1) => !sizes.has(sha1));
  if (missingChunks.length > 0) return { state: 'not_found', missingChunks, detail: null };
  const bytes = upload.chunks.reduce((sum, sha1) => sum + (sizes.get(sha1) ?? 0), 0);
  if (bytes > uploadMegabytes * 1_048_576) {
    throw new AppError('payload_too_large', `an upload has at most ${uploadMegabytes} MiB; split it`, {
      limit: 'uploadMegabytes',
    });
  }
  await inUnitOfWork(runtime, async ({ stores, now, enqueue }) => {
    if (bundle !== null) await stores.artifacts.removeBundle(bundle.id);
    const id = newId('bundle');
    const { checksum, chunks, serviceIds, release, dist } = upload;
    const what = { checksum, serviceIds, release, dist };
    const isNew = await stores.artifacts.insertBundle({
      id,
      orgId,
      key,
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
  });
  return { state: 'created', missingChunks: [], detail: null };
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
