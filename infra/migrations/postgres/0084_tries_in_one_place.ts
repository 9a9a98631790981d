import { Migration } from '@mikro-orm/migrations';

/** Tries of second factors and PINs are counted before they are made, where all others are. */
export class TriesInOnePlace extends Migration {
  override up(): void {
    this.addSql(`
      drop table second_factor_locks;
      alter table reply_pins drop column wrong_tries, drop column locked_until;
    `);
  }
}
