import { Migration } from '@mikro-orm/migrations';

/** Replies that were handled, by the provider's id, so that a reply that arrives twice is handled once. */
export class InboundMessages extends Migration {
  override up(): void {
    this.addSql(`
      create table inbound_messages (
        provider_id text primary key,
        answer text,
        received_at timestamptz(3) not null
      );
    `);
  }
}
