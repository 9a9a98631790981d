import { Migration } from '@mikro-orm/migrations';

/** Browsers that show push messages. They belong to a person, in all organizations. */
export class PushSubscriptions extends Migration {
  override up(): void {
    this.addSql(`
      create table push_subscriptions (
        id text primary key,
        user_id text not null references users on delete cascade,
        endpoint text not null unique,
        p256dh text not null,
        auth text not null,
        label text not null,
        created_at timestamptz(3) not null
      );
      create index push_subscriptions_by_user on push_subscriptions (user_id, created_at);
    `);
  }
}
