import { Migration } from '@mikro-orm/migrations';

/**
 * When a service's points were last stored so late that an evaluation of rules which reads only what is new would miss them.
 * The previous release writes none: what it stores late while it runs beside this one is seen when all is read again, within ten
 * minutes.
 */
export class LatePoints extends Migration {
  override up(): void {
    this.addSql(`
      create table late_points (
        service_id text primary key references services on delete cascade,
        stored_at timestamptz(3) not null
      );
    `);
  }
}
