/** Dashboards, and what is known of metrics besides their points. */
export const metrics = `
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

  create table metric_types (
    service_id text not null references services on delete cascade,
    name text not null,
    type integer not null,
    unit text not null,
    told_at timestamptz(3) not null,
    before integer,
    changed_at timestamptz(3),
    changes integer not null,
    primary key (service_id, name)
  );
  create index metric_types_by_told_at on metric_types (told_at);

  create table series_days (
    id bigint generated always as identity primary key,
    service_id text not null,
    day date not null,
    keys bytea not null
  );
  create index series_days_by_day on series_days (day, service_id);

  create table late_points (
    service_id text primary key references services on delete cascade,
    stored_at timestamptz(3) not null
  );
`;
