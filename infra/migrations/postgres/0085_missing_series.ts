import { Migration } from '@mikro-orm/migrations';

/** Since when series that breached a rule have sent nothing, while the condition is false over the others. */
export class MissingSeries extends Migration {
  override up(): void {
    this.addSql('alter table rule_memory add column missing_since timestamptz(3)');
  }
}
