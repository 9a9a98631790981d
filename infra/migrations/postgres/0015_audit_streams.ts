import { Migration } from '@mikro-orm/migrations';

/** Streams of the audit log of an organization: to a webhook, or to a file of the operator. */
export class AuditStreams extends Migration {
  override up(): void {
    this.addSql(`
      create table audit_streams (
        id text primary key,
        org_id text not null references organizations on delete cascade,
        kind text not null check (kind in ('webhook', 'file')),
        shown text not null,
        sealed bytea,
        is_on boolean not null,
        sent_number bigint not null,
        sent_hash bytea,
        failures integer not null default 0,
        failing_since timestamptz(3),
        last_failure text,
        last_success_at timestamptz(3),
        told_at timestamptz(3),
        held_until timestamptz(3),
        claimed_until timestamptz(3),
        created_at timestamptz(3) not null
      );
      create index audit_streams_by_org on audit_streams (org_id);
    `);
  }
}
