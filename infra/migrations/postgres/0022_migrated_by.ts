import { Migration } from '@mikro-orm/migrations';

/** The release that last migrated all stores, so that it does not check them at every start. */
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
