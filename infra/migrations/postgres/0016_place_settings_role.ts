import { Migration } from '@mikro-orm/migrations';

/** Role of whoever entered the settings of a place, and so knows its secrets; null for places from before this was kept. */
export class PlaceSettingsRole extends Migration {
  override up(): void {
    this.addSql('alter table places add column settings_role text');
  }
}
