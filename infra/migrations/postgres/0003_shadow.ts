import { Migration } from '@mikro-orm/migrations';

/**
 * Shadow mode of services and organizations: since when nobody is paged, and which incidents were opened so. Such an
 * incident pages nobody for as long as it lives.
 */
export class Shadow extends Migration {
  override up(): void {
    this.addSql(`
      alter table organizations add column shadow_since timestamptz(3);
      alter table services add column shadow_since timestamptz(3);
      alter table incidents add column is_shadow boolean not null default false;
      create index incidents_in_shadow on incidents (org_id, service_id) where is_shadow and status <> 'resolved';
    `);
  }
}
