import { Migration } from '@mikro-orm/migrations';

/** Which release has migrated all stores last: one that finds itself here need not look through them again. */
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
