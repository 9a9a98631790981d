import { Migration } from '@mikro-orm/migrations';

/** When a rule last fired, and how often of late, is read for every row of the list of rules. */
export class RuleActivity extends Migration {
  override up(): void {
    this.addSql(`
      create index incidents_of_rule_by_time on incidents (rule_id, triggered_at) where rule_id is not null;
      drop index incidents_of_rule;
      create index incident_members_of_rule on incident_members (rule_id, joined_at) where rule_id is not null;
    `);
  }
}
