import { Migration } from '@mikro-orm/migrations';

/** What each service leaves out of its exceptions on purpose, and how many of them it keeps within an hour. */
export class ExceptionSettings extends Migration {
  override up(): void {
    this.addSql(`
      create table exception_settings (
        service_id text primary key references services on delete cascade,
        filters json not null,
        patterns json not null,
        secret_names json not null,
        events_per_hour bigint,
        updated_at timestamptz(3) not null
      );

      create table exception_hours (
        service_id text primary key references services on delete cascade,
        hour timestamptz(3) not null,
        count bigint not null
      );
    `);
  }
}
