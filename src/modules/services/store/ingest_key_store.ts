import { sql } from 'kysely';

import type { Capability } from '#modules/capabilities/decide/capability.ts';
import { type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, columns, PostgresStore, prepared, type Row, toColumns, type Values } from '#storage/postgres/store.ts';
import { IngestKeyEntity } from '#storage/postgres/entities/credentials.ts';
import { ServiceEntity } from '#storage/postgres/entities/services.ts';

/** A service's credential pair as stored: found by hash, shown again by decryption. */
export type StoredIngestKey = Pick<Row<typeof IngestKeyEntity>, 'keyHash' | 'dsnKeyHash' | 'secrets'>;

const TARGET = ['orgId', 'projectId', 'keptProjectNumber', 'retentionMetrics', 'retentionExceptions'] as const;

/** Service that a sender's key opens. */
export type IngestTarget = Pick<Row<typeof ServiceEntity>, (typeof TARGET)[number]> & {
  readonly serviceId: Id<'service'>;
  readonly capabilities: readonly Capability[];
};

/** Column of the key that a sender brings: the ingestion key or the DSN's. */
export type IngestKeyColumn = 'key_hash' | 'dsn_key_hash';

export type OpenedTarget = IngestTarget & { readonly hash: Buffer };

const FIND_SECRETS = prepared((db, { serviceId }: Values<{ serviceId: Id<'service'> }>) =>
  db
    .selectFrom('ingest_keys')
    .select('secrets')
    .where('service_id', '=', serviceId)
    .where('revoked_at', 'is', null)
    .where('is_further', '=', false),
);

/** Ingestion keys and DSNs; a service has one pair that is current, and may have further keys of DSNs beside it. */
export class IngestKeyStore extends PostgresStore {
  /** The caller holds the lock on the service: two rotations follow each other, the later one wins. */
  async replace(
    service: { readonly orgId: Id<'org'>; readonly id: Id<'service'> },
    key: StoredIngestKey,
    now: Temporal.Instant,
  ): Promise<void> {
    const { db } = this;
    await db
      .updateTable('ingest_keys')
      .set({ revoked_at: now })
      .where('service_id', '=', service.id)
      .where('revoked_at', 'is', null)
      .execute();
    const row = { id: newId('ingestkey'), orgId: service.orgId, serviceId: service.id, ...key, createdAt: now };
    await db.insertInto('ingest_keys').values(toColumns(IngestKeyEntity, row)).execute();
  }

  /** Gives the current pair of the service another DSN key; the caller holds the lock on the service. */
  async changePair({ id }: { readonly id: Id<'service'> }, key: StoredIngestKey): Promise<void> {
    await this.updateTable('ingest_keys')
      .set(toColumns(IngestKeyEntity, key))
      .where('service_id', '=', id)
      .where('revoked_at', 'is', null)
      .where('is_further', '=', false)
      .execute();
  }

  /** Returns the sealed DSN keys beside the current pair, by service. */
  async listFurther(serviceIds: readonly Id<'service'>[]): Promise<Map<Id<'service'>, Buffer[]>> {
    const rows = await this.selectFrom('ingest_keys as k')
      .select(columns(IngestKeyEntity, 'k', ['serviceId', 'secrets']))
      .where('k.service_id', '=', anyOf(serviceIds))
      .where('k.revoked_at', 'is', null)
      .where('k.is_further', '=', true)
      .orderBy('k.id')
      .execute();
    const groups = Map.groupBy(rows, ({ serviceId }) => serviceId);
    return new Map([...groups].map(([serviceId, keys]) => [serviceId, keys.map(({ secrets }) => secrets)]));
  }

  /** Takes away the DSN keys beside the current pair that are not in the list; the caller holds the lock on the service. */
  async removeFurther({ id }: { readonly id: Id<'service'> }, kept: readonly Buffer[]): Promise<void> {
    await this.deleteFrom('ingest_keys')
      .where('service_id', '=', id)
      .where('is_further', '=', true)
      .where('revoked_at', 'is', null)
      .where((eb) => eb.not(eb('dsn_key_hash', '=', anyOf(kept))))
      .execute();
  }

  /** Adds DSN keys beside the current pair. A key that another service has, or had, is a unique violation. */
  async addFurther(
    service: { readonly orgId: Id<'org'>; readonly id: Id<'service'> },
    keys: readonly StoredIngestKey[],
    now: Temporal.Instant,
  ): Promise<void> {
    if (keys.length === 0) return;
    const rows = keys.map((key) => {
      const ids = { id: newId('ingestkey'), orgId: service.orgId, serviceId: service.id };
      return toColumns(IngestKeyEntity, { ...ids, ...key, createdAt: now, isFurther: true });
    });
    await this.insertInto('ingest_keys').values(rows).execute();
  }

  /** The encrypted current pair; null only for a service that is being created. */
  async findSecrets(serviceId: Id<'service'>): Promise<Buffer | null> {
    const key = await FIND_SECRETS.row(this.session, { serviceId });
    return key?.secrets ?? null;
  }

  /** Returns the target of each of the keys, in one query; a key that opens nothing is absent. */
  async findTargets(by: IngestKeyColumn, hashes: readonly Buffer[]): Promise<OpenedTarget[]> {
    return await this.selectFrom('ingest_keys as k')
      .innerJoin('services as s', (join) => join.onRef('s.id', '=', 'k.service_id').on('s.deleted_at', 'is', null))
      .select(columns(ServiceEntity, 's', TARGET))
      .select(['s.id as serviceId', `k.${by} as hash`])
      .select(({ selectFrom }) => {
        const enabled = selectFrom('service_capabilities as c')
          .select('c.capability')
          .whereRef('c.service_id', '=', 's.id')
          .where('c.is_enabled', '=', true);
        return sql<Capability[]>`array(${enabled})`.as('capabilities');
      })
      .where(`k.${by}`, '=', anyOf(hashes))
      .where('k.revoked_at', 'is', null)
      .execute();
  }
}
