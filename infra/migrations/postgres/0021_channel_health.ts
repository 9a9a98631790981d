import { Migration } from '@mikro-orm/migrations';

/** Finds the last message that each channel accepted, and the last that its provider rejected or did not answer. */
export class ChannelHealth extends Migration {
  override up(): void {
    this.addSql(`
      create index notifications_taken on notifications (org_id, channel, updated_at)
        where provider_id is not null or status in ('sent', 'delivered');
      create index notifications_refused on notifications (org_id, channel, updated_at)
        where reason = 'unconfirmed' or starts_with(reason, 'provider_');
    `);
  }
}
