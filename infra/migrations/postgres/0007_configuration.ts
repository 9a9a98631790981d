import { Migration } from '@mikro-orm/migrations';

/**
 * Configuration files: the keys that files have for resources, whether people may change those in the console, and the
 * project number of a DSN that a service keeps from another installation.
 */
export class Configuration extends Migration {
  override up(): void {
    this.addSql(`
      create table managed_resources (
        org_id text not null references organizations on delete cascade,
        kind text not null,
        key text not null,
        resource_id text not null,
        file text not null,
        is_made boolean not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        primary key (org_id, kind, key)
      );
      create index managed_resources_by_resource on managed_resources (org_id, resource_id);

      alter table organizations add column managed_changes text not null default 'allowed'
        check (managed_changes in ('allowed', 'refused'));

      alter table services add column kept_project_number bigint;
    `);
  }
}
