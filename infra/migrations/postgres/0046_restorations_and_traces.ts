import { Migration } from '@mikro-orm/migrations';

/**
 * Backups that were restored into this installation: `resumed_at` is null until a pager has brought its timers from the time
 * of the backup to its own. And the trace that an incident or a message belongs to, as W3C's `traceparent`; null without
 * tracing, and for rows of the previous release.
 */
export class RestorationsAndTraces extends Migration {
  override up(): void {
    this.addSql(`
      create table restorations (
        backup_id text not null,
        snapshot_at timestamptz(3) not null,
        restored_at timestamptz(3) not null,
        resumed_at timestamptz(3),
        primary key (backup_id, restored_at)
      );
      create index restorations_to_resume on restorations (restored_at) where resumed_at is null;
      alter table incidents add column traceparent text;
      alter table notifications add column traceparent text;
    `);
  }
}
