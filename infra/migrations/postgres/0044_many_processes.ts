import { Migration } from '@mikro-orm/migrations';

/**
 * What processes of one role know of each other: who shares which work, and what is left of limits that count for all of
 * them together. Both live for seconds, so they are in no log of the server: after a crash or a fail-over they are empty,
 * and are written again within a second. And how old a release may be that works on
 * the schema.
 */
export class ManyProcesses extends Migration {
  override up(): void {
    this.addSql(`
      create unlogged table work_members (
        work text not null,
        member text not null,
        alive_until timestamptz(3) not null,
        joined_at timestamptz(3) not null,
        done_at timestamptz(3),
        primary key (work, member)
      );
      create unlogged table limit_buckets (
        key text primary key,
        tokens double precision not null,
        is_granted boolean not null,
        at timestamptz(3) not null
      );
      alter table migrated_by
        add column works_with_postgres text,
        add column works_with_clickhouse text;
    `);
  }
}
