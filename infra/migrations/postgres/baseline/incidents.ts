/** Incidents, their timers, notifications and timelines. */
export const incidents = `
  -- number is what a person types in a reply ("ACK 1234"); dedup_key allows one open incident per cause.
  create table incidents (
    id text primary key,
    number bigint,
    org_id text not null references organizations on delete cascade,
    service_id text not null references services on delete cascade,
    rule_id text references alert_rules on delete set null,
    exception_group_id text references exception_groups on delete set null,
    escalation_policy_id text references escalation_policies on delete set null,
    team_id text references teams on delete set null,
    kind text not null,
    dedup_key text not null,
    title text not null,
    severity text not null,
    details json not null,
    occurrences bigint not null default 1,
    steps json not null,
    status text not null default 'triggered' check (status in ('triggered', 'acknowledged', 'resolved')),
    triggered_at timestamptz(3) not null,
    acknowledged_at timestamptz(3),
    acknowledged_by json,
    resolved_at timestamptz(3),
    resolved_by json,
    counted_at timestamptz(3) not null,
    clear_since timestamptz(3),
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    storm_until timestamptz(3),
    traceparent text,
    suppressed_until timestamptz(3),
    parent_id text references incidents on delete set null,
    is_shadow boolean not null default false,
    repeats json,
    acknowledgements json,
    commander_id text,
    unique (org_id, number)
  );
  create unique index incidents_open on incidents (dedup_key) where (status <> 'resolved');
  create index incidents_by_service on incidents (service_id, triggered_at desc);
  create index incidents_triggered on incidents (org_id) where (status = 'triggered');
  create index incidents_resolved on incidents (service_id, resolved_at) where (status = 'resolved');
  create index incidents_of_group on incidents (exception_group_id) where (exception_group_id is not null);
  create index incidents_of_policy on incidents (escalation_policy_id) where (escalation_policy_id is not null);
  create index incidents_of_team on incidents (team_id) where (team_id is not null);
  create index incidents_by_trigger on incidents (org_id, triggered_at desc, id desc);
  create index incidents_open_by_trigger on incidents (org_id, status, triggered_at desc, id desc)
    where (status <> 'resolved');
  create index incidents_by_resolution on incidents (org_id, resolved_at desc, id desc) include (service_id)
    where (status = 'resolved');
  create index incidents_storms on incidents (service_id, kind)
    where ((storm_until is not null) and (status <> 'resolved'));
  create index incidents_of_rule_by_time on incidents (rule_id, triggered_at) where (rule_id is not null);
  create index incidents_suppressed on incidents (org_id, suppressed_until) where (suppressed_until is not null);
  create index incidents_by_parent on incidents (parent_id) where (parent_id is not null);
  create index incidents_in_shadow on incidents (org_id, service_id) where (is_shadow and (status <> 'resolved'));
  create index incidents_open_counts on incidents (org_id, service_id, status) where (status <> 'resolved');

  create table incident_numbers (
    org_id text primary key references organizations on delete cascade,
    last bigint not null
  );

  -- One timer per step: the row is the truth, a job only the alarm clock.
  create table incident_steps (
    incident_id text not null references incidents on delete cascade,
    step_index integer not null,
    due_at timestamptz(3) not null,
    state text not null default 'pending' check (state in ('pending', 'fired', 'skipped', 'cancelled')),
    settled_at timestamptz(3),
    reason text,
    primary key (incident_id, step_index)
  );
  create index incident_steps_due on incident_steps (due_at) where (state = 'pending');

  create table incident_members (
    incident_id text not null references incidents on delete cascade,
    dedup_key text not null,
    service_id text not null,
    kind text not null,
    rule_id text references alert_rules on delete set null,
    exception_group_id text references exception_groups on delete set null,
    title text not null,
    severity text not null,
    occurrences bigint not null default 1,
    joined_at timestamptz(3) not null,
    counted_at timestamptz(3) not null,
    clear_since timestamptz(3),
    ended_at timestamptz(3),
    primary key (incident_id, dedup_key)
  );
  create unique index incident_members_open on incident_members (dedup_key) where (ended_at is null);
  create index incident_members_recent on incident_members (service_id, kind, joined_at);
  create index incident_members_by_rule on incident_members (rule_id) where (ended_at is null);
  create index incident_members_by_group on incident_members (exception_group_id) where (ended_at is null);
  create index incident_members_of_rule on incident_members (rule_id, joined_at) where (rule_id is not null);

  create table incident_notes (
    id text primary key,
    incident_id text not null references incidents on delete cascade,
    user_id text not null,
    body text not null,
    request_key text not null,
    created_at timestamptz(3) not null,
    edited_at timestamptz(3),
    agent_name text,
    unique (incident_id, user_id, request_key)
  );
  create index incident_notes_by_incident on incident_notes (incident_id, created_at, id);

  create table incident_timeline (
    id bigint generated always as identity primary key,
    incident_id text not null references incidents on delete cascade,
    at timestamptz(3) not null,
    event text not null,
    data json not null
  );
  create index incident_timeline_by_incident on incident_timeline (incident_id, id);

  create table notifications (
    id text primary key,
    org_id text not null,
    incident_id text references incidents on delete cascade,
    step_index integer,
    kind text not null check (kind in ('page', 'update', 'digest', 'test', 'code', 'number_changed', 'member_number_changed')),
    user_id text not null,
    channel text not null,
    address text,
    status text not null check (status in ('queued', 'sending', 'sent', 'delivered', 'failed', 'skipped', 'cancelled')),
    reason text,
    attempts integer not null default 0,
    provider_id text,
    due_at timestamptz(3),
    lease_until timestamptz(3),
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    news text check (news in ('acknowledged', 'resolved', 'reopened', 'proposed')),
    digest_id text references notifications on delete set null,
    released_at timestamptz(3),
    traceparent text,
    proposal_id text,
    answered_at timestamptz(3),
    constraint notifications_about_check check (((incident_id is null) = (kind not in ('page', 'update'))))
  );
  create unique index notifications_once on notifications (incident_id, step_index, user_id, channel)
    where (kind = 'page');
  create index notifications_by_incident on notifications (incident_id, created_at);
  create index notifications_due on notifications (due_at) where (status in ('queued', 'sending'));
  create index notifications_by_provider on notifications (provider_id) where (provider_id is not null);
  create index notifications_by_digest on notifications (digest_id) where (digest_id is not null);
  create index notifications_released on notifications (user_id, channel, released_at)
    where (released_at is not null);
  create index notifications_waiting_digests on notifications (user_id, channel)
    where ((kind = 'digest') and (status = 'queued') and (released_at is null));
  create index notifications_without_incident on notifications (created_at) where (incident_id is null);
  create index notifications_by_channel on notifications (org_id, channel, created_at desc);
  create index notifications_taken on notifications (org_id, channel, updated_at)
    where ((provider_id is not null) or (status in ('sent', 'delivered')));
  create index notifications_refused on notifications (org_id, channel, updated_at)
    where ((reason = 'unconfirmed') or starts_with(reason, 'provider_'));
  create index notifications_by_address on notifications (address, created_at)
    where ((kind = 'page') and (channel in ('sms', 'call')));

  create table ended_calls (
    provider_id text primary key,
    notification_id text not null references notifications on delete cascade,
    ended_at timestamptz(3) not null
  );
  create index ended_calls_by_notification on ended_calls (notification_id);

  create function incidents_number()
  returns trigger
  language plpgsql
  as $function$
    declare given bigint;
    begin
      if new.number is not null then return null; end if;
      perform audit_lock_heads();
      insert into incident_numbers as n
        select new.org_id, coalesce(max(number), 0) + 1 from incidents where org_id = new.org_id
        on conflict (org_id) do update set last = greatest(n.last + 1, excluded.last) returning last into given;
      update incidents set number = given where id = new.id;
      return null;
  end $function$;

  create trigger incidents_are_noted after insert on incidents for each row execute function audit_log_note();

  create constraint trigger incidents_are_numbered after insert on incidents deferrable initially deferred
    for each row execute function incidents_number();
`;
