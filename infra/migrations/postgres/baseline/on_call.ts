/** Teams, schedules, escalation policies and calendars. */
export const onCall = `
  create table teams (
    id text primary key,
    org_id text not null references organizations on delete cascade,
    name text not null,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null
  );
  create index teams_by_org on teams (org_id);

  create table team_members (
    id text primary key,
    org_id text not null,
    team_id text not null references teams on delete cascade,
    user_id text not null,
    phone text,
    sms_enabled boolean not null,
    call_enabled boolean not null,
    push_enabled boolean not null,
    email_enabled boolean not null,
    sort_order bigint not null,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    unique (team_id, user_id),
    foreign key (org_id, user_id) references memberships(org_id, user_id) on delete cascade
  );
  create index team_members_by_user on team_members (org_id, user_id);
  create index team_members_by_phone on team_members (phone) where (phone is not null);

  create table schedules (
    id text primary key,
    org_id text not null,
    team_id text not null references teams on delete cascade,
    name text not null,
    timezone text not null,
    rotation_type text not null check (rotation_type in ('daily', 'weekly')),
    rotation_config json not null,
    start_at timestamptz(3) not null,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    start_wall text,
    layers json
  );
  create index schedules_by_team on schedules (team_id);

  create table schedule_overrides (
    id text primary key,
    org_id text not null,
    schedule_id text not null references schedules on delete cascade,
    user_id text not null,
    start_at timestamptz(3) not null,
    end_at timestamptz(3) not null,
    created_at timestamptz(3) not null,
    layer_id text,
    constraint schedule_overrides_check check ((end_at > start_at))
  );
  create index schedule_overrides_by_schedule on schedule_overrides (schedule_id, end_at);

  create table escalation_policies (
    id text primary key,
    org_id text not null,
    team_id text not null references teams on delete cascade,
    name text not null,
    steps json not null,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    details json,
    last_turn json
  );
  create index escalation_policies_by_team on escalation_policies (team_id);

  create table calendar_feeds (
    id text primary key,
    org_id text not null,
    schedule_id text not null references schedules on delete cascade,
    secret_hash bytea not null unique,
    secret_sealed bytea not null,
    created_at timestamptz(3) not null,
    revoked_at timestamptz(3),
    user_id text,
    foreign key (org_id, user_id) references memberships(org_id, user_id) on delete cascade
  );
  create unique index calendar_feeds_live on calendar_feeds (schedule_id, coalesce(user_id, ''))
    where (revoked_at is null);
  create index calendar_feeds_by_member on calendar_feeds (org_id, user_id);

  create table own_calendars (
    org_id text not null,
    user_id text not null,
    secret_hash bytea not null unique,
    secret_sealed bytea not null,
    created_at timestamptz(3) not null,
    primary key (org_id, user_id),
    foreign key (org_id, user_id) references memberships(org_id, user_id) on delete cascade
  );

  create table holiday_calendars (
    id text primary key,
    org_id text not null references organizations on delete cascade,
    name text not null,
    url text,
    dates json not null,
    fetched_at timestamptz(3),
    tried_at timestamptz(3),
    fault text,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null
  );
  create index holiday_calendars_by_org on holiday_calendars (org_id);
  create index holiday_calendars_by_try on holiday_calendars (tried_at) where url is not null;
`;
