/** Services, how they are reached, and what was refused of what they sent. */
export const services = `
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
    deleted_at timestamptz(3),
    shadow_since timestamptz(3),
    kept_project_number bigint,
    team_id text references teams on delete set null
  );
  create index services_by_org on services (org_id) where (deleted_at is null);
  create index services_by_team on services (team_id) where (team_id is not null);
  create index services_to_purge on services (deleted_at) where (deleted_at is not null);

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

  create table ingest_keys (
    id text primary key,
    org_id text not null,
    service_id text not null references services on delete cascade,
    key_hash bytea not null unique,
    dsn_key_hash bytea not null unique,
    secrets bytea not null,
    created_at timestamptz(3) not null,
    revoked_at timestamptz(3),
    is_further boolean not null default false
  );
  create unique index ingest_keys_current on ingest_keys (service_id) where (revoked_at is null and not is_further);
  create index ingest_keys_further on ingest_keys (service_id) where is_further;

  create table ingest_refusals (
    service_id text not null references services on delete cascade,
    kind text not null,
    reason text not null,
    hour timestamptz(3) not null,
    count bigint not null,
    last_at timestamptz(3) not null,
    primary key (service_id, kind, reason, hour)
  );
  create index ingest_refusals_by_hour on ingest_refusals (hour);

  create table sent_items (
    service_id text not null references services on delete cascade,
    kind text not null,
    reason text not null,
    hour timestamptz(3) not null,
    count bigint not null,
    last_at timestamptz(3) not null,
    primary key (service_id, kind, reason, hour)
  );
  create index sent_items_by_hour on sent_items (hour);

  create table spooled_data (
    folder text primary key,
    oldest_at timestamptz(3) not null,
    told_at timestamptz(3) not null
  );

  create table message_templates (
    service_id text not null references services on delete cascade,
    key text not null,
    bucket text not null,
    tokens json not null,
    is_pinned boolean not null default false,
    number bigint generated always as identity,
    created_at timestamptz(3) not null,
    primary key (service_id, key)
  );
  create index message_templates_by_bucket on message_templates (service_id, bucket, number);
`;
