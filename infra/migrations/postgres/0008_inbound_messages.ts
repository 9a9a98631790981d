import { Migration } from '@mikro-orm/migrations';

/** Messages from people that were acted upon, by the provider's id: the same one sent again is not acted upon again. */
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
