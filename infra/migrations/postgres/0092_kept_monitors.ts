import { Migration } from '@mikro-orm/migrations';

/**
 * Which monitors take check-ins by the ingestion key alone, and which a check-in with that key has made or a person has
 * changed: no other takes their place. Those that are there already count as kept.
 */
export class KeptMonitors extends Migration {
  override up(): void {
    this.addSql(`
      alter table monitors
        add column key_only boolean not null default false,
        add column is_kept boolean not null default true;
      alter table monitors alter column is_kept set default false;
      alter table check_ins add column by_key boolean not null default false;
    `);
  }
}
