import { Migration } from '@mikro-orm/migrations';

/**
 * A storm is one incident instead of many: when a service would open too many, the rest become members of the storm. It accepts
 * members until `storm_until`, which is null for an ordinary incident.
 */
export class Storms extends Migration {
  override up(): void {
    this.addSql(`
      alter table incidents add column storm_until timestamptz(3);
      create index incidents_storms on incidents (service_id, kind) where storm_until is not null and status <> 'resolved';

      create table incident_members (
        incident_id text not null references incidents on delete cascade,
        dedup_key text not null,
        service_id text not null,
        kind text not null,
        rule_id text references alert_rules on delete set null,
        exception_group_id text references exception_groups on delete set null,
        title text not null,
        severity text not null,
        occurrences bigint not null default 1,
        joined_at timestamptz(3) not null,
        counted_at timestamptz(3) not null,
        clear_since timestamptz(3),
        ended_at timestamptz(3),
        primary key (incident_id, dedup_key)
      );
      create unique index incident_members_open on incident_members (dedup_key) where ended_at is null;
      create index incident_members_recent on incident_members (service_id, kind, joined_at);
      create index incident_members_by_rule on incident_members (rule_id) where ended_at is null;
      create index incident_members_by_group on incident_members (exception_group_id) where ended_at is null;

      create index exception_groups_made on exception_groups (service_id, created_at);
    `);
  }
}
