import { Migration } from '@mikro-orm/migrations';

/** Finds digests and tests by age, because they are not deleted with an incident. */
export class MessagesWithoutIncident extends Migration {
  override up(): void {
    this.addSql(`
      create index notifications_without_incident on notifications (created_at) where incident_id is null;
    `);
  }
}
