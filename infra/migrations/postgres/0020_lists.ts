import { Migration } from '@mikro-orm/migrations';

/** Indexes in the order of the lists in the console, so that a page of a long list reads only its own rows. */
export class Lists extends Migration {
  override up(): void {
    this.addSql(`
      create index exception_groups_by_last_seen on exception_groups (org_id, last_seen_at desc, id desc);
      drop index exception_groups_by_org;
      create index incidents_by_trigger on incidents (org_id, triggered_at desc, id desc);
      drop index incidents_by_org;
      create index incidents_open_by_trigger on incidents (org_id, status, triggered_at desc, id desc)
        where status <> 'resolved';
      -- Counting what is resolved reads nothing else.
      create index incidents_by_resolution on incidents (org_id, resolved_at desc, id desc) include (service_id)
        where status = 'resolved';
    `);
  }
}
