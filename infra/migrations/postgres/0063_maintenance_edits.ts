import { Migration } from '@mikro-orm/migrations';

/** When a maintenance window was changed last, null for never: who edits one that somebody else has changed is told. */
export class MaintenanceEdits extends Migration {
  override up(): void {
    this.addSql('alter table maintenance_windows add column updated_at timestamptz(3)');
  }
}
