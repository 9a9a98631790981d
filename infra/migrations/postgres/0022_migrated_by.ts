import { Migration } from '@mikro-orm/migrations';

/** The release that migrated the stores last: the same release need not check them again at its next start. */
export class MigratedBy extends Migration {
  override up(): void {
    this.addSql(`
      create table migrated_by (
        is_only boolean primary key default true check (is_only),
        release text not null,
        at timestamptz(3) not null default now()
      );
    `);
  }
}
