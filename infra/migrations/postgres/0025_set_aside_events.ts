import { Migration } from '@mikro-orm/migrations';

/**
 * Events that were stopped twice because reading them took too long. They wait here instead of holding up others, are
 * shown to their service, and are tried again hours later.
 */
export class SetAsideEvents extends Migration {
  override up(): void {
    this.addSql(`
      create table set_aside_events (
        id text primary key,
        service_id text not null references services on delete cascade,
        events integer not null,
        payload bytea not null,
        tries integer not null default 1,
        set_aside_at timestamptz(3) not null,
        due_at timestamptz(3) not null
      );
      -- It is compressed already.
      alter table set_aside_events alter column payload set storage external;
      create index set_aside_events_by_service on set_aside_events (service_id);
      create index set_aside_events_by_due on set_aside_events (due_at);
    `);
  }
}
