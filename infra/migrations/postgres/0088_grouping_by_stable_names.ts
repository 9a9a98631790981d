import { Migration } from '@mikro-orm/migrations';

/**
 * Until when a release that groups events by version 4 may run beside this one; null in an installation that has had none.
 * The release that migrated first has left a row.
 */
export class GroupingByStableNames extends Migration {
  override up(): void {
    this.addSql(`
      alter table migrated_by add column version_4_until timestamptz(3);
      update migrated_by set version_4_until = now() + interval '1 hour';
    `);
  }
}
