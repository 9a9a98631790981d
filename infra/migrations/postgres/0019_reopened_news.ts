import { Migration } from '@mikro-orm/migrations';

/** People who were notified that an incident was acknowledged or resolved are notified when it is open again. */
export class ReopenedNews extends Migration {
  override up(): void {
    this.addSql(`
      alter table notifications
        drop constraint notifications_news_check,
        add constraint notifications_news_check check (news in ('acknowledged', 'resolved', 'reopened'));
    `);
  }
}
