import { Migration } from '@mikro-orm/migrations';

/**
 * A worker reads the rules of its parts, lists read the first rules, and open incidents are counted, without looking at all
 * of them. The expression of the first is `partOf` in `active_rule_store.ts`.
 */
export class ManyRulesAndIncidents extends Migration {
  override up(): void {
    this.addSql(`
      create index alert_rules_by_part on alert_rules
        ((hashtextextended(service_id || ' ' || split_part(config->>'metricName', '{', 1), 0) & 1023))
        where kind = 'metric_threshold';
      create index alert_rules_by_org on alert_rules (org_id, id);
      create index incidents_open_counts on incidents (org_id, service_id, status) where status <> 'resolved';
    `);
  }
}
