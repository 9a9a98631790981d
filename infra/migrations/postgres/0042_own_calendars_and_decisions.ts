import { Migration } from '@mikro-orm/migrations';

/**
 * The secret address of one person's shifts as a calendar: at most one for each member, and it ends with the membership.
 * What the last decision about an exception group has replaced, so that it can be undone whole.
 */
export class OwnCalendarsAndDecisions extends Migration {
  override up(): void {
    this.addSql(`
      create table own_calendars (
        org_id text not null,
        user_id text not null,
        secret_hash bytea not null unique,
        secret_sealed bytea not null,
        created_at timestamptz(3) not null,
        primary key (org_id, user_id),
        foreign key (org_id, user_id) references memberships on delete cascade
      );

      create table group_decisions (
        group_id text primary key references exception_groups on delete cascade,
        decided_at timestamptz(3) not null,
        status text not null,
        status_changed_at timestamptz(3) not null,
        resolved_in_release text,
        regressed_at timestamptz(3)
      );
    `);
  }
}
