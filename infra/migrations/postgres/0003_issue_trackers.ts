import { Migration } from '@mikro-orm/migrations';

/** Trackers in which people create issues about exceptions, and those issues. */
export class IssueTrackers extends Migration {
  override up(): void {
    this.addSql(`
      create table issue_trackers (
        id text primary key,
        org_id text not null references organizations on delete cascade,
        kind text not null check (kind in ('github', 'gitlab', 'jira')),
        address text not null,
        account text,
        project text not null,
        issue_type text,
        sealed bytea not null,
        created_at timestamptz(3) not null
      );
      create index issue_trackers_by_org on issue_trackers (org_id);

      create table group_issues (
        group_id text primary key references exception_groups on delete cascade,
        tracker_id text references issue_trackers on delete set null,
        project text not null,
        number text,
        claimed_until timestamptz(3) not null
      );
      create index group_issues_by_tracker on group_issues (tracker_id);

      alter table exception_settings
        add column tracker_id text references issue_trackers on delete set null,
        add column tracker_project text;
    `);
  }
}
