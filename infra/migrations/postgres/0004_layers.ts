import { Migration } from '@mikro-orm/migrations';

/**
 * Layers of schedules beside the contract's rotation, overrides for one layer, and calendars of holidays. `dates` holds
 * the days of the last good answer of a calendar's address, or those that were typed in.
 */
export class Layers extends Migration {
  override up(): void {
    this.addSql(`
      alter table schedules add column layers json;
      alter table schedule_overrides add column layer_id text;

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
    `);
  }
}
