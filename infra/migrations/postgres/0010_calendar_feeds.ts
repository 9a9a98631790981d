import { Migration } from '@mikro-orm/migrations';

/** Secret addresses of schedules as calendars; at most one for each schedule. */
export class CalendarFeeds extends Migration {
  override up(): void {
    this.addSql(`
      create table calendar_feeds (
        id text primary key,
        org_id text not null,
        schedule_id text not null references schedules on delete cascade,
        secret_hash bytea not null unique,
        secret_sealed bytea not null,
        created_at timestamptz(3) not null,
        revoked_at timestamptz(3)
      );
      create unique index calendar_feeds_live on calendar_feeds (schedule_id) where revoked_at is null;
    `);
  }
}
