import { Migration } from '@mikro-orm/migrations';

/** Which secret the installation on this database encrypts with, as a fingerprint: a process with another one must not start. */
export class Installation extends Migration {
  override up(): void {
    this.addSql(`
      create table installation (
        is_only boolean primary key default true check (is_only),
        secret_fingerprint text not null,
        at timestamptz(3) not null default now()
      );
    `);
  }
}
