import { Migration } from '@mikro-orm/migrations';

/** Incidents, their timers, notifications and timelines. */
export class Incidents extends Migration {
  override up(): void {
    this.addSql(`
      -- number is what a person types in a reply ("ACK 1234"); dedup_key allows one open incident per cause.
      create table incidents (
        id text primary key,
        number bigint generated always as identity unique,
        org_id text not null references organizations on delete cascade,
        service_id text not null references services on delete cascade,
        rule_id text references alert_rules on delete set null,
        exception_group_id text references exception_groups on delete set null,
        escalation_policy_id text references escalation_policies on delete set null,
        team_id text references teams on delete set null,
        kind text not null check (kind in ('metric_threshold', 'exception')),
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
        updated_at timestamptz(3) not null
      );
      create unique index incidents_open on incidents (dedup_key) where status <> 'resolved';
      create index incidents_by_org on incidents (org_id, triggered_at desc);
      create index incidents_by_service on incidents (service_id, triggered_at desc);
      create index incidents_by_rule on incidents (rule_id) where status <> 'resolved';
      create index incidents_by_group on incidents (exception_group_id) where status <> 'resolved';

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
      create index incident_steps_due on incident_steps (due_at) where state = 'pending';

      create table notifications (
        id text primary key,
        org_id text not null,
        incident_id text not null references incidents on delete cascade,
        step_index integer,
        kind text not null check (kind in ('page', 'update')),
        user_id text not null,
        channel text not null check (channel in ('sms', 'call', 'push', 'email')),
        address text,
        status text not null check (status in ('queued', 'sending', 'sent', 'delivered', 'failed', 'skipped', 'cancelled')),
        reason text,
        attempts integer not null default 0,
        provider_id text,
        due_at timestamptz(3),
        lease_until timestamptz(3),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null
      );
      create unique index notifications_once on notifications (incident_id, step_index, user_id, channel) where kind = 'page';
      create index notifications_by_incident on notifications (incident_id, created_at);
      create index notifications_due on notifications (due_at) where status in ('queued', 'sending');
      create index notifications_by_provider on notifications (provider_id) where provider_id is not null;
      create index notifications_recent on notifications (user_id, channel, updated_at);

      create table incident_timeline (
        id bigint generated always as identity primary key,
        incident_id text not null references incidents on delete cascade,
        at timestamptz(3) not null,
        event text not null,
        data json not null
      );
      create index incident_timeline_by_incident on incident_timeline (incident_id, id);
    `);
  }
}
