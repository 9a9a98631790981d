import { Migration } from '@mikro-orm/migrations';

/**
 * What policies say beyond their steps, the last turn of their round robin, and what incidents keep of it: how their
 * steps repeat, and who has acknowledged while others still must.
 */
export class PolicyDetails extends Migration {
  override up(): void {
    this.addSql(`
      alter table escalation_policies add column details json, add column last_turn json;
      alter table incidents add column repeats json, add column acknowledgements json;
    `);
  }
}
