import { Migration } from '@mikro-orm/migrations';

/** Person who leads the response to an incident. The id stays when the person leaves, as that of who acknowledged it. */
export class IncidentParts extends Migration {
  override up(): void {
    this.addSql('alter table incidents add column commander_id text');
  }
}
