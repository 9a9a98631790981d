import { Migration } from '@mikro-orm/migrations';

/** Further public keys of a project of Sentry: senders of a service may use any of them. */
export class FurtherDsnKeys extends Migration {
  override up(): void {
    this.addSql(`
      alter table ingest_keys add column is_further boolean not null default false;
      drop index ingest_keys_current;
      create unique index ingest_keys_current on ingest_keys (service_id) where (revoked_at is null and not is_further);
      create index ingest_keys_further on ingest_keys (service_id) where (is_further);
    `);
  }
}
