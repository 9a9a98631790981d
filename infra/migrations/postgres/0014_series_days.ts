import { Migration } from '@mikro-orm/migrations';

/**
 * Which series each service had on each day, for the bound on their number. Every API process adds those that it saw
 * first, eight bytes a series, so that a row holds many of them and the same one may stand in several. Rows are of no
 * use after their day, and no row points at its service: it goes before long in any case.
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
