import { Migration } from '@mikro-orm/migrations';

/**
 * When the receiver of a message showed that they had it, by a key pressed in a call or a reply: an answered call alone may
 * be voicemail. Numbers whose owners have stopped SMS, since when. Processes of the previous release write neither.
 */
export class AnsweredPages extends Migration {
  override up(): void {
    this.addSql(`
      alter table notifications add column answered_at timestamptz(3);
      create table sms_opt_outs (
        phone text primary key,
        since timestamptz(3) not null
      );
    `);
  }
}
