/** Groups of exceptions, and what was sent with events. */
export const exceptions = `
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
    merged_into_id text references exception_groups on delete set null,
    merged_at timestamptz(3),
    assigned_user_id text references users on delete set null,
    assigned_team_id text references teams on delete set null,
    issue_url text,
    unique (service_id, key)
  );
  create index exception_groups_by_service on exception_groups (service_id, last_seen_at desc);
  create index exception_groups_by_last_seen on exception_groups (org_id, last_seen_at desc, id desc);
  create index exception_groups_made on exception_groups (service_id, created_at);
  create index exception_groups_merged on exception_groups (merged_into_id) where (merged_into_id is not null);
  create index exception_groups_of_user on exception_groups (assigned_user_id)
    where (assigned_user_id is not null);
  create index exception_groups_of_team on exception_groups (assigned_team_id)
    where (assigned_team_id is not null);

  create table exception_group_keys (
    service_id text not null,
    key text not null,
    group_id text not null references exception_groups on delete cascade,
    created_at timestamptz(3) not null,
    primary key (service_id, key)
  );
  create index exception_group_keys_of_group on exception_group_keys (group_id);

  create table exception_group_counts (
    group_id text primary key references exception_groups on delete cascade,
    events bigint not null default 0,
    users bigint not null default 0,
    is_handled boolean,
    days json not null default '[]'::json,
    environments json not null default '[]'::json,
    releases json not null default '[]'::json,
    releases_total bigint not null default 0,
    counted_at timestamptz(3),
    due_at timestamptz(3),
    rests_until timestamptz(3)
  ) with (fillfactor = 80);
  create index exception_group_counts_due on exception_group_counts (due_at) where (due_at is not null);

  create table group_decisions (
    group_id text primary key references exception_groups on delete cascade,
    decided_at timestamptz(3) not null,
    status text not null,
    status_changed_at timestamptz(3) not null,
    resolved_in_release text,
    regressed_at timestamptz(3)
  );

  create table exception_settings (
    service_id text primary key references services on delete cascade,
    filters json not null,
    patterns json not null,
    secret_names json not null,
    events_per_hour bigint,
    updated_at timestamptz(3) not null,
    learns_spikes boolean not null default false,
    learnt_per_hour bigint,
    learnt_at timestamptz(3),
    assignment_rules json not null default '[]'::json,
    issue_link text
  );

  create table exception_hours (
    service_id text primary key references services on delete cascade,
    hour timestamptz(3) not null,
    count bigint not null
  );

  create table event_attachments (
    id text primary key,
    service_id text not null references services on delete cascade,
    event_id text not null,
    name text not null,
    content_type text,
    bytes integer not null,
    content bytea not null,
    created_at timestamptz(3) not null
  );
  create index event_attachments_of_event on event_attachments (service_id, event_id);
  create index event_attachments_by_age on event_attachments (created_at);

  create table event_feedback (
    id text primary key,
    service_id text not null references services on delete cascade,
    event_id text,
    name text,
    email text,
    comments text not null,
    created_at timestamptz(3) not null,
    feedback_id text,
    url text
  );
  create index event_feedback_of_event on event_feedback (service_id, event_id);
  create index event_feedback_by_age on event_feedback (created_at);
  create index event_feedback_of_service on event_feedback (service_id, created_at);

  create table quarantined_events (
    id text primary key,
    service_id text not null references services on delete cascade,
    events integer not null,
    payload bytea not null,
    tries integer not null default 1,
    quarantined_at timestamptz(3) not null,
    due_at timestamptz(3) not null
  );
  alter table quarantined_events alter column payload set storage external; -- Compressed before it is stored.
  create index quarantined_events_by_service on quarantined_events (service_id);
  create index quarantined_events_by_due on quarantined_events (due_at);

  create table group_snoozes (
    group_id text not null references exception_groups on delete cascade,
    decided_at timestamptz(3) not null,
    until timestamptz(3),
    events bigint,
    users bigint,
    user_id text,
    checked_at timestamptz(3),
    primary key (group_id, decided_at)
  );
  create index group_snoozes_by_time on group_snoozes (until) where (until is not null);

  create table group_activity (
    id text primary key,
    org_id text not null references organizations on delete cascade,
    group_id text not null references exception_groups on delete cascade,
    at timestamptz(3) not null,
    actor json not null,
    facts json not null,
    body text,
    user_id text,
    request_key text,
    edited_at timestamptz(3),
    unique (group_id, user_id, request_key)
  );
  create index group_activity_by_group on group_activity (group_id, at, id);

  create table group_watchers (
    group_id text not null references exception_groups on delete cascade,
    user_id text not null references users on delete cascade,
    created_at timestamptz(3) not null,
    primary key (group_id, user_id)
  );

  create table saved_searches (
    id text primary key,
    org_id text not null references organizations on delete cascade,
    user_id text references users on delete set null,
    name text not null,
    search json not null,
    is_shared boolean not null,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null
  );
  create index saved_searches_of_organization on saved_searches (org_id, user_id);
`;
