import { Migration } from '@mikro-orm/migrations';

/**
 * The first index finds incidents that are older than the retention of their service. The others also serve foreign keys:
 * without them, deleting a rule, group, policy or team would scan all incidents.
 */
export class Retention extends Migration {
  override up(): void {
    this.addSql(`
      create index incidents_resolved on incidents (service_id, resolved_at) where status = 'resolved';
      create index incidents_of_rule on incidents (rule_id) where rule_id is not null;
      create index incidents_of_group on incidents (exception_group_id) where exception_group_id is not null;
      create index incidents_of_policy on incidents (escalation_policy_id) where escalation_policy_id is not null;
      create index incidents_of_team on incidents (team_id) where team_id is not null;
      drop index incidents_by_rule;
      drop index incidents_by_group;
    `);
  }
}
