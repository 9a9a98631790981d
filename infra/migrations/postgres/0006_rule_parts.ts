import { Migration } from '@mikro-orm/migrations';

/** Memory of rules by label: what is kept of each value of the label, beside what `rule_memory` keeps of whole rules. */
export class RuleParts extends Migration {
  override up(): void {
    this.addSql(`
      create table rule_part_memory (
        rule_id text not null references alert_rules on delete cascade,
        part text not null,
        breached_since timestamptz(3),
        silent_since timestamptz(3),
        missing_since timestamptz(3),
        primary key (rule_id, part)
      );
    `);
  }
}
