import { Migration } from '@mikro-orm/migrations';

/**
 * The first index finds what is older than its service keeps. The others are for the foreign keys, too: without them
 * each rule, group, policy or team that is removed would look through all incidents.
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
