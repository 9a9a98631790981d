import { Migration } from '@mikro-orm/migrations';

/**
 * The series of each service and day, to limit their number. Every API process adds those that are new to it, many in a row,
 * eight bytes each; a series may be in several rows. Rows are useless after their day and are deleted soon, so there is no
 * foreign key to the service.
 */
export class SeriesDays extends Migration {
  override up(): void {
    this.addSql(`
      create table series_days (
        id bigint generated always as identity primary key,
        service_id text not null,
        day date not null,
        keys bytea not null
      );
      create index series_days_by_day on series_days (day, service_id);
    `);
  }
}
