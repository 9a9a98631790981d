import { Migration } from '@mikro-orm/migrations';

/**
 * How much data of each service was refused, by hour and reason. Every API process adds its counts from time to time; rows are
 * deleted after some days.
 */
export class IngestRefusals extends Migration {
  override up(): void {
    this.addSql(`
      create table ingest_refusals (
        service_id text not null references services on delete cascade,
        kind text not null check (kind in ('points', 'events')),
        reason text not null,
        hour timestamptz(3) not null,
        count bigint not null,
        last_at timestamptz(3) not null,
        primary key (service_id, kind, reason, hour)
      );
      create index ingest_refusals_by_hour on ingest_refusals (hour);
    `);
  }
}
