import type { Capability } from '#core/capabilities/capability.ts';
import { type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';

/** A service's credential pair as stored: look-up by hash, show again by decryption. */
export interface StoredIngestKey {
  readonly keyHash: Buffer;
  readonly dsnKeyHash: Buffer;
  /** The pair, encrypted. */
  readonly secrets: Buffer;
}

/** What a sender's key opens. */
export interface IngestTarget {
  readonly orgId: Id<'org'>;
  readonly serviceId: Id<'service'>;
  readonly projectId: number;
  readonly capabilities: readonly Capability[];
  readonly retentionMetrics: number;
  readonly retentionExceptions: number;
}

/** Which half of the pair a sender brings: the ingestion key or the DSN's. */
export type IngestKeyColumn = 'key_hash' | 'dsn_key_hash';

export interface OpenedTarget extends IngestTarget {
  readonly hash: Buffer;
}

/** Ingestion keys and DSNs; a service has one pair that is current. */
export class IngestKeyStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** The caller holds the lock on the service: two rotations follow each other, the later one wins. */
  async replace(
    service: { readonly orgId: Id<'org'>; readonly id: Id<'service'> },
    key: StoredIngestKey,
    now: Temporal.Instant,
  ): Promise<void> {
    await this.#session.sql.run('update ingest_keys set revoked_at = $2 where service_id = $1 and revoked_at is null', [
      service.id,
      now.toString(),
    ]);
    await this.#session.sql.run(
      `insert into ingest_keys (id, org_id, service_id, key_hash, dsn_key_hash, secrets, created_at)
       values ($1, $2, $3, $4, $5, $6, $7)`,
      [newId('ingestkey'), service.orgId, service.id, key.keyHash, key.dsnKeyHash, key.secrets, now.toString()],
    );
  }

  /** The encrypted current pair; null only for a service that is being created. */
  async findSecrets(serviceId: Id<'service'>): Promise<Buffer | null> {
    const row = await this.#session.sql.row<{ secrets: Buffer }>(
      'select secrets from ingest_keys where service_id = $1 and revoked_at is null',
      [serviceId],
    );
    return row?.secrets ?? null;
  }

  /** What each of the keys opens, in one query; a key that opens nothing is absent. */
  async findTargets(by: IngestKeyColumn, hashes: readonly Buffer[]): Promise<OpenedTarget[]> {
    return await this.#session.sql.rows<OpenedTarget>(
      `select k.${by} as hash, s.org_id as "orgId", s.id as "serviceId", s.project_id as "projectId",
         s.retention_metrics as "retentionMetrics", s.retention_exceptions as "retentionExceptions",
         array(select capability from service_capabilities c where c.service_id = s.id and c.is_enabled) as capabilities
       from ingest_keys k join services s on s.id = k.service_id and s.deleted_at is null
       where k.${by} = any($1) and k.revoked_at is null`,
      [hashes],
    );
  }
}
