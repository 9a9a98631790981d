import { Migration } from '@mikro-orm/migrations';

/** Organizations whose messages a browser gets; null for all, as of every browser until now. */
export class BrowsersOfOrganizations extends Migration {
  override up(): void {
    this.addSql('alter table push_subscriptions add column org_ids text[]');
  }
}
