import { Migration } from '@mikro-orm/migrations';

/** The outbox, leases of periodic work, and the audit log. */
export class OutboxAndAudit extends Migration {
  override up(): void {
    this.addSql(`
      create table outbox (
        id bigint generated always as identity primary key,
        job_name text not null,
        payload json not null,
        run_at timestamptz(3),
        created_at timestamptz(3) not null
      );

      -- Periodic work is done by whoever holds the lease.
      create table leases (
        name text primary key,
        holder text not null,
        held_until timestamptz(3) not null,
        done_at timestamptz(3)
      );

      create table audit_log (
        id text primary key,
        org_id text not null references organizations on delete cascade,
        at timestamptz(3) not null,
        actor json not null,
        via text not null,
        action text not null,
        target text,
        before json,
        after json,
        result text not null,
        address text,
        request_id text not null
      );
      create index audit_log_by_org on audit_log (org_id, at desc);
      create function audit_log_is_append_only() returns trigger language plpgsql as
        $$ begin raise exception 'the audit log is append-only'; end $$;
      create trigger audit_log_no_update before update on audit_log
        for each row execute function audit_log_is_append_only();
    `);
  }
}
