import { Migration } from '@mikro-orm/migrations';

/** Mail addresses that are told of updates on a status page, once their owner has confirmed it. */
export class StatusSubscribers extends Migration {
  override up(): void {
    this.addSql(`
      create table status_subscribers (
        id text primary key,
        org_id text not null references organizations on delete cascade,
        page_id text not null references status_pages on delete cascade,
        email text not null,
        asked_at timestamptz(3) not null,
        confirmed_at timestamptz(3),
        unique (page_id, email)
      );
      create index status_subscribers_by_email on status_subscribers (email);
      create index status_subscribers_by_org on status_subscribers (org_id);
      create index status_publications_open on status_publications (id) where ended_at is null;
    `);
  }
}
