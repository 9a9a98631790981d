/** The outbox, durable jobs, leases, and what processes know of each other. */
export const work = `
  create table outbox (
    id bigint generated always as identity primary key,
    job_name text not null,
    payload json not null,
    run_at timestamptz(3),
    created_at timestamptz(3) not null
  );

  create table durable_jobs (
    job_id text primary key,
    job_name text not null,
    payload bytea not null,
    created_at timestamptz(3) not null default now(),
    org_id text not null,
    service_id text not null,
    items integer not null,
    attempts integer not null default 0,
    ready_at timestamptz(3) not null default now(),
    crash_score integer not null default 0,
    quarantined_at timestamptz(3),
    claimed_by text
  ) with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.1,
    toast.autovacuum_vacuum_threshold = 1000, toast.autovacuum_vacuum_scale_factor = 0.1);
  alter table durable_jobs alter column payload set storage external; -- Compressed before it is stored.
  create index durable_jobs_turns on durable_jobs (job_name, org_id, service_id, job_id);
  create index durable_jobs_quarantined on durable_jobs (service_id) where (quarantined_at is not null);

  -- Periodic work is done by whoever holds the lease.
  create table leases (
    name text primary key,
    holder text not null,
    held_until timestamptz(3) not null,
    done_at timestamptz(3)
  );

  create table workers (
    work text not null,
    member text not null,
    alive_until timestamptz(3) not null,
    joined_at timestamptz(3) not null,
    done_at timestamptz(3),
    primary key (work, member)
  );

  create table token_buckets (
    key text primary key,
    tokens double precision not null,
    is_granted boolean not null,
    at timestamptz(3) not null
  );

  create table installation (
    is_only boolean default true primary key check (is_only),
    secret_fingerprint text not null,
    at timestamptz(3) not null default now()
  );

  create table restorations (
    backup_id text not null,
    snapshot_at timestamptz(3) not null,
    restored_at timestamptz(3) not null,
    resumed_at timestamptz(3),
    primary key (backup_id, restored_at)
  );
  create index restorations_to_resume on restorations (restored_at) where (resumed_at is null);

  create table migrated_by (
    is_only boolean default true primary key check (is_only),
    release text not null,
    at timestamptz(3) not null default now(),
    works_with_postgres text,
    works_with_clickhouse text
  );

  -- Stored rows that cannot be read, which are left out alone, with when their owners were told.
  create table unreadable_rows (
    kind text not null,
    row_id text not null,
    org_id text not null references organizations on delete cascade,
    name text not null,
    since timestamptz(3) not null,
    seen_at timestamptz(3) not null,
    told_at timestamptz(3),
    primary key (kind, row_id)
  );
  create index unreadable_rows_by_org on unreadable_rows (org_id);
`;
