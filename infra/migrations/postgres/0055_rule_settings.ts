import { Migration } from '@mikro-orm/migrations';

/**
 * What the console sets of a rule beside its config, null for nothing; and what evaluations remember of a rule: since
 * when its condition has been true without an incident, and since when it finds no data. A rule without memory has no row.
 */
export class RuleSettings extends Migration {
  override up(): void {
    this.addSql(`
      alter table alert_rules add column settings json;
      create table rule_memory (
        rule_id text primary key references alert_rules on delete cascade,
        breached_since timestamptz(3),
        silent_since timestamptz(3)
      );
    `);
  }
}
