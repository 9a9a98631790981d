import { Migration } from '@mikro-orm/migrations';

/** Stored rows that cannot be read, which are left out alone, with when their owners were told. */
export class UnreadableRows extends Migration {
  override up(): void {
    this.addSql(`
      create table unreadable_rows (
        kind text not null,
        row_id text not null,
        org_id text not null references organizations on delete cascade,
        name text not null,
        since timestamptz(3) not null,
        seen_at timestamptz(3) not null,
        told_at timestamptz(3),
        primary key (kind, row_id)
      );
      create index unreadable_rows_by_org on unreadable_rows (org_id);
    `);
  }
}
