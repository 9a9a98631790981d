import { Migration } from '@mikro-orm/migrations';

/**
 * Messages without a single incident: a digest, which replaces several messages, and a test. `released_at` is when the limit
 * of messages a minute let a message through.
 */
export class Digests extends Migration {
  override up(): void {
    this.addSql(`
      alter table notifications
        alter column incident_id drop not null,
        add column news text check (news in ('acknowledged', 'resolved')),
        add column digest_id text references notifications on delete set null,
        add column released_at timestamptz(3),
        drop constraint notifications_kind_check,
        add constraint notifications_kind_check check (kind in ('page', 'update', 'digest', 'test')),
        add constraint notifications_about_check check ((incident_id is null) = (kind in ('digest', 'test')));
      create index notifications_by_digest on notifications (digest_id) where digest_id is not null;
      create index notifications_released on notifications (user_id, channel, released_at) where released_at is not null;
      create index notifications_waiting_digests on notifications (user_id, channel)
        where kind = 'digest' and status = 'queued' and released_at is null;
      create index incidents_triggered on incidents (org_id) where status = 'triggered';
      drop index notifications_recent;
    `);
  }
}
