import { Migration } from '@mikro-orm/migrations';

/**
 * Exceptions that a team works on: whom a group is assigned to, its issue in a tracker, until when it is snoozed, its
 * comments and history, who wants to hear when it comes back, and searches that people keep.
 */
export class Triage extends Migration {
  override up(): void {
    this.addSql(`
      alter table exception_groups
        add column assigned_user_id text references users on delete set null,
        add column assigned_team_id text references teams on delete set null,
        add column issue_url text;
      create index exception_groups_of_user on exception_groups (assigned_user_id)
        where (assigned_user_id is not null);
      create index exception_groups_of_team on exception_groups (assigned_team_id)
        where (assigned_team_id is not null);

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

      alter table exception_settings
        add column assignment_rules json not null default '[]'::json,
        add column issue_link text;
    `);
  }
}
