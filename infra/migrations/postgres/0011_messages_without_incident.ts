import { Migration } from '@mikro-orm/migrations';

/** Finds digests and tests by age: no incident deletes them with it. */
export class MessagesWithoutIncident extends Migration {
  override up(): void {
    this.addSql(`
      create index notifications_without_incident on notifications (created_at) where incident_id is null;
    `);
  }
}
