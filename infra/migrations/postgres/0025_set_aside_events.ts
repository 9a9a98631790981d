import { Migration } from '@mikro-orm/migrations';

/**
 * Events whose processing was stopped twice because it took too long. They wait here, so that they delay no others, are shown
 * to the owners of the service, and are tried again hours later.
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
