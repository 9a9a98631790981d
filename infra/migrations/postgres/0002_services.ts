import { Migration } from '@mikro-orm/migrations';

/** Monitored services, their credentials, their paid capabilities and the ledger of what was billed. */
export class Services extends Migration {
  override up(): void {
    this.addSql(`
      create table services (
        id text primary key,
        org_id text not null references organizations on delete cascade,
        project_id bigint generated always as identity unique,
        name text not null,
        environment text,
        scm_owner text,
        scm_repo text,
        retention_metrics integer not null default 30,
        retention_exceptions integer not null default 90,
        retention_oncall integer not null default 400,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        deleted_at timestamptz(3)
      );
      create index services_by_org on services (org_id) where deleted_at is null;
      create index services_to_purge on services (deleted_at) where deleted_at is not null;

      -- billed_until is the end of the running period, whether or not the capability is still enabled.
      create table service_capabilities (
        service_id text not null references services on delete cascade,
        capability text not null check (capability in ('metrics', 'exceptions', 'oncall')),
        is_enabled boolean not null,
        enabled_at timestamptz(3) not null,
        billing_anchor timestamptz(3) not null,
        billed_until timestamptz(3) not null,
        primary key (service_id, capability)
      );
      create index service_capabilities_to_renew on service_capabilities (billed_until) where is_enabled;

      -- The ledger outlives the service: it names it instead of pointing at it.
      create table billing_periods (
        id text primary key,
        org_id text not null references organizations on delete cascade,
        service_id text not null,
        service_name text not null,
        capability text not null,
        starts_at timestamptz(3) not null,
        ends_at timestamptz(3) not null,
        amount_cents integer not null,
        currency text not null,
        created_at timestamptz(3) not null,
        unique (service_id, capability, starts_at)
      );
      create index billing_periods_by_org on billing_periods (org_id, starts_at);
      create function billing_periods_are_final() returns trigger language plpgsql as
        $$ begin raise exception 'a billing period never changes'; end $$;
      create trigger billing_periods_no_update before update on billing_periods
        for each row execute function billing_periods_are_final();

      create table ingest_keys (
        id text primary key,
        org_id text not null,
        service_id text not null references services on delete cascade,
        key_hash bytea not null unique,
        dsn_key_hash bytea not null unique,
        secrets bytea not null,
        created_at timestamptz(3) not null,
        revoked_at timestamptz(3)
      );
      create unique index ingest_keys_current on ingest_keys (service_id) where revoked_at is null;

      create table dashboards (
        id text primary key,
        org_id text not null references organizations on delete cascade,
        service_id text references services on delete cascade,
        name text not null,
        layout json not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null
      );
      create index dashboards_by_org on dashboards (org_id);

      create table exception_groups (
        id text primary key,
        org_id text not null,
        service_id text not null references services on delete cascade,
        key text not null,
        grouping_version integer not null,
        grouping_parts json not null,
        title text not null,
        type text,
        culprit text,
        pattern text,
        level text not null,
        status text not null default 'unresolved' check (status in ('unresolved', 'resolved', 'ignored')),
        status_changed_at timestamptz(3) not null,
        resolved_in_release text,
        regressed_at timestamptz(3),
        first_seen_at timestamptz(3) not null,
        last_seen_at timestamptz(3) not null,
        first_release text,
        last_release text,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        unique (service_id, key)
      );
      create index exception_groups_by_org on exception_groups (org_id, last_seen_at desc);
      create index exception_groups_by_service on exception_groups (service_id, last_seen_at desc);
    `);
  }
}
