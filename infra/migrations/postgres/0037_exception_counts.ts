import { Migration } from '@mikro-orm/migrations';

/**
 * What was counted over the events of each exception group, so that lists are sorted by it without reading events.
 * Workers count again what is due; every group that is there already is due at once. A group without a row, or with
 * `counted_at` null, was never counted.
 */
export class ExceptionCounts extends Migration {
  override up(): void {
    this.addSql(`
      create table exception_group_counts (
        group_id text primary key references exception_groups on delete cascade,
        events bigint not null default 0,
        users bigint not null default 0,
        is_handled boolean,
        days json not null default '[]',
        environments json not null default '[]',
        releases json not null default '[]',
        releases_total bigint not null default 0,
        counted_at timestamptz(3),
        due_at timestamptz(3),
        rests_until timestamptz(3)
      ) with (fillfactor = 80);
      create index exception_group_counts_due on exception_group_counts (due_at) where due_at is not null;
      insert into exception_group_counts (group_id, due_at) select id, now() from exception_groups;
    `);
  }
}
