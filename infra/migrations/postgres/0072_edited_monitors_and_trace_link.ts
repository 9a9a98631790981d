import { Migration } from '@mikro-orm/migrations';

/**
 * What a person expects of a cron monitor beside what its job said last, and the address of the tool in which an
 * organization looks at traces.
 */
export class EditedMonitorsAndTraceLink extends Migration {
  override up(): void {
    this.addSql('alter table monitors add column edited_config json, add column sent_config json');
    this.addSql('alter table organizations add column trace_link text');
  }
}
