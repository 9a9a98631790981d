import { Migration } from '@mikro-orm/migrations';

/**
 * Times in which incidents page nobody; until when the pages of an incident wait, null for not at all; and the incident
 * that pages for it as well, null for none.
 */
export class Maintenance extends Migration {
  override up(): void {
    this.addSql(`
      create table maintenance_windows (
        id text primary key,
        org_id text not null references organizations on delete cascade,
        name text not null,
        service_id text references services on delete cascade,
        rule_id text references alert_rules on delete cascade,
        label_name text,
        label_value text,
        starts_at timestamptz(3) not null,
        ends_at timestamptz(3),
        recurrence json,
        timezone text not null,
        created_at timestamptz(3) not null
      );
      create index maintenance_windows_by_org on maintenance_windows (org_id, starts_at);
      alter table incidents
        add column quiet_until timestamptz(3),
        add column lead_id text references incidents on delete set null;
      create index incidents_quiet on incidents (org_id, quiet_until) where quiet_until is not null;
      create index incidents_followers on incidents (lead_id) where lead_id is not null;
    `);
  }
}
