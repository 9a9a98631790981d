import { Migration } from '@mikro-orm/migrations';

/**
 * Calls that have ended, by the provider's id. Signatures contain no time, so a replayed call-back is recognized by this. A
 * message may have two calls, if the result of the first one is unknown.
 */
export class EndedCalls extends Migration {
  override up(): void {
    this.addSql(`
      create table ended_calls (
        provider_id text primary key,
        notification_id text not null references notifications on delete cascade,
        ended_at timestamptz(3) not null
      );
      create index ended_calls_by_notification on ended_calls (notification_id);
    `);
  }
}
