import { Migration } from '@mikro-orm/migrations';

/** Organization and service of counted groups, so that organizations and services have turns. */
export class TurnsOfCounts extends Migration {
  override up(): void {
    this.addSql(`
      alter table exception_group_counts
        add column org_id text not null default '', add column service_id text not null default '';
      update exception_group_counts c set org_id = g.org_id, service_id = g.service_id
        from exception_groups g where g.id = c.group_id;
      create index exception_group_counts_turns on exception_group_counts (org_id, service_id, due_at)
        where (due_at is not null);
    `);
  }
}
