import { type Expression, type Kysely, type RawBuilder, sql } from 'kysely';

import { asId, type Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, columns, holdLock, PostgresStore, type Row, rowsChanged, toColumns } from '#storage/postgres/store.ts';
import { ArtifactBundleEntity, UploadChunkEntity } from '#storage/postgres/entities/releases.ts';
import type { Tables } from '#storage/postgres/tables.ts';

export type BundleRow = Row<typeof ArtifactBundleEntity>;

type ChunkRow = Row<typeof UploadChunkEntity>;

/** Selects the parts of uploads that are complete and still to be read. */
function partsThatWait(db: Kysely<Tables>) {
  return db
    .selectFrom('artifact_bundles')
    .select(({ ref }) => ['org_id', sql<string>`json_array_elements_text(${ref('chunks')})`.as('sha1')])
    .where('state', '=', 'waiting');
}

function isFor(serviceIds: Expression<unknown>, serviceId: Expression<unknown>): RawBuilder<boolean> {
  return sql<boolean>`jsonb_exists(${serviceIds}::jsonb, ${serviceId})`;
}

/** Uploads of builds, in parts, until their source maps are extracted. */
export class ArtifactStore extends PostgresStore {
  /** A part that is there already stays for another day. */
  async addChunk(chunk: ChunkRow): Promise<void> {
    await this.insertInto('upload_chunks')
      .values(toColumns(UploadChunkEntity, chunk))
      .onConflict((conflict) => conflict.columns(['org_id', 'sha1']).doUpdateSet({ created_at: chunk.createdAt }))
      .execute();
  }

  /** Sizes by checksum, of those that are there. */
  async chunkSizes(orgId: Id<'org'>, checksums: readonly string[]): Promise<Map<string, number>> {
    const rows = await this.selectFrom('upload_chunks')
      .select(['sha1', 'size'])
      .where('org_id', '=', orgId)
      .where('sha1', '=', anyOf([...new Set(checksums)]))
      .execute();
    return new Map(rows.map(({ sha1, size }) => [sha1, size]));
  }

  async findChunk(orgId: Id<'org'>, sha1: string): Promise<Buffer | null> {
    const row = await this.selectFrom('upload_chunks')
      .select('content')
      .where('org_id', '=', orgId)
      .where('sha1', '=', sha1)
      .executeTakeFirst();
    return row?.content ?? null;
  }

  /** Bytes that wait of the organization. */
  async waitingBytes(orgId: Id<'org'>): Promise<number> {
    const { bytes } = await this.selectFrom('upload_chunks')
      .select(({ fn, cast, val }) => cast<number>(fn.coalesce(fn.sum('size'), val(0)), 'bigint').as('bytes'))
      .where('org_id', '=', orgId)
      .executeTakeFirstOrThrow();
    return bytes;
  }

  /** Holds the parts: until the transaction ends nobody else takes any away, nor begins an upload of which they are. */
  async lockChunks(orgId: Id<'org'>): Promise<void> {
    await holdLock(this.session, `upload_chunks ${orgId}`);
  }

  /** Removes parts of an upload that has been read; those of another that waits stay. */
  async removeChunks(orgId: Id<'org'>, checksums: readonly string[]): Promise<void> {
    await this.deleteFrom('upload_chunks')
      .where('org_id', '=', orgId)
      .where('sha1', '=', anyOf(checksums))
      .where(({ eb, refTuple }) =>
        eb(
          refTuple('org_id', 'sha1'),
          'not in',
          partsThatWait(this.db).where('org_id', '=', orgId).$asTuple('org_id', 'sha1'),
        ),
      )
      .execute();
  }

  /** Parts of uploads that were never finished. */
  async removeChunksBefore(at: Temporal.Instant, limit: number): Promise<number> {
    const removed = await this.deleteFrom('upload_chunks')
      .where(({ eb, refTuple, selectFrom }) =>
        eb(
          refTuple('org_id', 'sha1'),
          'in',
          selectFrom('upload_chunks')
            .select(['org_id', 'sha1'])
            .where('created_at', '<', at)
            .where(({ eb: inner, refTuple: tuple }) =>
              inner(tuple('org_id', 'sha1'), 'not in', partsThatWait(this.db).$asTuple('org_id', 'sha1')),
            )
            .limit(limit)
            .$asTuple('org_id', 'sha1'),
        ),
      )
      .execute();
    return rowsChanged(removed);
  }

  async findBundle(orgId: Id<'org'>, key: string): Promise<BundleRow | null> {
    return (await this.#bundles(orgId).where('b.key', '=', key).executeTakeFirst()) ?? null;
  }

  async findBundleById(orgId: Id<'org'>, bundleId: string): Promise<BundleRow | null> {
    return (await this.#bundles(orgId).where('b.id', '=', asId('bundle', bundleId)).executeTakeFirst()) ?? null;
  }

  /** The oldest upload of each organization that waits to be read. */
  async listWaiting(): Promise<Pick<BundleRow, 'id' | 'orgId'>[]> {
    return await this.selectFrom('artifact_bundles')
      .select(['id', 'org_id as orgId'])
      .distinctOn('org_id')
      .where('state', '=', 'waiting')
      .orderBy('org_id')
      .orderBy('created_at')
      .orderBy('id')
      .execute();
  }

  /** False when another request has made it first. */
  async insertBundle(bundle: BundleRow): Promise<boolean> {
    const inserted = await this.insertInto('artifact_bundles')
      .values(toColumns(ArtifactBundleEntity, bundle))
      .onConflict((conflict) => conflict.columns(['org_id', 'key']).doNothing())
      .execute();
    return rowsChanged(inserted) > 0;
  }

  async removeBundle(bundleId: Id<'bundle'>): Promise<void> {
    await this.deleteFrom('artifact_bundles').where('id', '=', bundleId).execute();
  }

  /** Notes how the reading of a bundle ended. */
  async endBundle(
    bundleId: Id<'bundle'>,
    { state, detail, maps, bytes }: Pick<BundleRow, 'state' | 'detail' | 'maps' | 'bytes'>,
  ): Promise<void> {
    await this.updateTable('artifact_bundles')
      .set({ state, detail, maps, bytes, ...toColumns(ArtifactBundleEntity, { chunks: [] }) })
      .where('id', '=', bundleId)
      .execute();
  }

  /** Marks bundles as used, so that a bundle whose maps are in use stays; writes at most once a day. */
  async markUsed(bundleIds: readonly Id<'bundle'>[], now: Temporal.Instant): Promise<void> {
    await this.updateTable('artifact_bundles')
      .set({ used_at: now })
      .where('id', '=', anyOf(bundleIds))
      .where('used_at', '<', now.subtract({ hours: 24 }))
      .execute();
  }

  /** The one that was used longest ago, but for those that are still to be read. */
  async findOldestBundle(orgId: Id<'org'>, except: Id<'bundle'>): Promise<BundleRow | null> {
    const oldest = await this.#bundles(orgId)
      .where('b.state', '=', 'stored')
      .where('b.id', '<>', except)
      .orderBy('b.used_at')
      .orderBy('b.id')
      .limit(1)
      .executeTakeFirst();
    return oldest ?? null;
  }

  async removeBundlesUnusedSince(at: Temporal.Instant, limit: number): Promise<number> {
    const removed = await this.deleteFrom('artifact_bundles')
      .where('id', 'in', ({ selectFrom }) =>
        selectFrom('artifact_bundles').select('id').where('used_at', '<', at).limit(limit),
      )
      .execute();
    return rowsChanged(removed);
  }

  /** Removes the uploads of a deleted service that are for no other service which is there. */
  async removeBundlesOfDeleted(serviceId: Id<'service'>): Promise<void> {
    await this.deleteFrom('artifact_bundles')
      .where('org_id', 'in', ({ selectFrom }) => selectFrom('services').select('org_id').where('id', '=', serviceId))
      .where(({ ref }) => isFor(ref('artifact_bundles.service_ids'), sql.val(serviceId)))
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('services as s')
              .select('s.id')
              .whereRef('s.org_id', '=', 'artifact_bundles.org_id')
              .where('s.deleted_at', 'is', null)
              .where(({ ref }) => isFor(ref('artifact_bundles.service_ids'), ref('s.id'))),
          ),
        ),
      )
      .execute();
  }

  #bundles(orgId: Id<'org'>) {
    return this.selectFrom('artifact_bundles as b')
      .select(columns(ArtifactBundleEntity, 'b'))
      .where('b.org_id', '=', orgId);
  }
}
