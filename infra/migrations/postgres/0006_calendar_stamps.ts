import { Migration } from '@mikro-orm/migrations';

/** Hash of what a calendar was last made of, and the time that was first seen, with which its events are stamped. */
export class CalendarStamps extends Migration {
  override up(): void {
    for (const calendars of ['calendar_feeds', 'own_calendars']) {
      this.addSql(`alter table ${calendars} add column made_of bytea, add column changed_at timestamptz(3)`);
    }
  }
}
