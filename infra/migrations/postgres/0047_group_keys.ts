import { Migration } from '@mikro-orm/migrations';

/**
 * More than one key for a group: `exception_group_keys` are those under which a later version of the grouping knows its
 * events. A group that was merged into another points to it and keeps its own row, so that it can be split off again.
 * `message_templates` are learnt from the messages of a service; `number` is the order in which they were.
 */
export class GroupKeys extends Migration {
  override up(): void {
    this.addSql(`
      alter table exception_groups
        add column merged_into_id text references exception_groups on delete set null,
        add column merged_at timestamptz(3);
      create index exception_groups_merged on exception_groups (merged_into_id) where merged_into_id is not null;
      create index exception_groups_of_version_2 on exception_groups (service_id) where grouping_version < 3;
      create table exception_group_keys (
        service_id text not null,
        key text not null,
        group_id text not null references exception_groups on delete cascade,
        created_at timestamptz(3) not null,
        primary key (service_id, key)
      );
      create index exception_group_keys_of_group on exception_group_keys (group_id);
      create table message_templates (
        service_id text not null references services on delete cascade,
        key text not null,
        bucket text not null,
        tokens json not null,
        is_pinned boolean not null default false,
        number bigint generated always as identity,
        created_at timestamptz(3) not null,
        primary key (service_id, key)
      );
      create index message_templates_by_bucket on message_templates (service_id, bucket, number);
    `);
  }
}
