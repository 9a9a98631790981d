import { Migration } from '@mikro-orm/migrations';

/** Teams, contacts, schedules, escalation policies and alert rules. */
export class Oncall extends Migration {
  override up(): void {
    this.addSql(`
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
        foreign key (org_id, user_id) references memberships on delete cascade
      );
      create index team_members_by_user on team_members (org_id, user_id);
      create index team_members_by_phone on team_members (phone) where phone is not null;

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
        updated_at timestamptz(3) not null
      );
      create index schedules_by_team on schedules (team_id);

      create table schedule_overrides (
        id text primary key,
        org_id text not null,
        schedule_id text not null references schedules on delete cascade,
        user_id text not null,
        start_at timestamptz(3) not null,
        end_at timestamptz(3) not null check (end_at > start_at),
        created_at timestamptz(3) not null
      );
      create index schedule_overrides_by_schedule on schedule_overrides (schedule_id, end_at);

      create table escalation_policies (
        id text primary key,
        org_id text not null,
        team_id text not null references teams on delete cascade,
        name text not null,
        steps json not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null
      );
      create index escalation_policies_by_team on escalation_policies (team_id);

      create table alert_rules (
        id text primary key,
        org_id text not null references organizations on delete cascade,
        service_id text not null references services on delete cascade,
        name text not null,
        kind text not null check (kind in ('metric_threshold', 'exception')),
        config json not null,
        escalation_policy_id text references escalation_policies on delete set null,
        enabled boolean not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null
      );
      create index alert_rules_by_service on alert_rules (service_id);
      create index alert_rules_by_policy on alert_rules (escalation_policy_id);
    `);
  }
}
