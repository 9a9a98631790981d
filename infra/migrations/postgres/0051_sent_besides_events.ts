import { Migration } from '@mikro-orm/migrations';

/**
 * What clients send besides events: how much of it was not kept, by kind and reason; sessions counted by release; files
 * and what people wrote about an event.
 */
export class SentBesidesEvents extends Migration {
  override up(): void {
    this.addSql(`
      create table sent_items (
        service_id text not null references services on delete cascade,
        kind text not null,
        reason text not null,
        hour timestamptz(3) not null,
        count bigint not null,
        last_at timestamptz(3) not null,
        primary key (service_id, kind, reason, hour)
      );
      create index sent_items_by_hour on sent_items (hour);

      create table release_sessions (
        service_id text not null references services on delete cascade,
        release text not null,
        environment text not null,
        hour timestamptz(3) not null,
        sessions bigint not null,
        errored bigint not null,
        crashed bigint not null,
        abnormal bigint not null,
        primary key (service_id, release, environment, hour)
      );
      create index release_sessions_by_hour on release_sessions (hour);

      create table event_attachments (
        id text primary key,
        service_id text not null references services on delete cascade,
        event_id text not null,
        name text not null,
        content_type text,
        bytes integer not null,
        content bytea not null,
        created_at timestamptz(3) not null
      );
      create index event_attachments_of_event on event_attachments (service_id, event_id);
      create index event_attachments_by_age on event_attachments (created_at);

      create table event_feedback (
        id text primary key,
        service_id text not null references services on delete cascade,
        event_id text not null,
        name text,
        email text,
        comments text not null,
        created_at timestamptz(3) not null
      );
      create index event_feedback_of_event on event_feedback (service_id, event_id);
      create index event_feedback_by_age on event_feedback (created_at);
    `);
  }
}
