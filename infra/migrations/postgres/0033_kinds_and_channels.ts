import { Migration } from '@mikro-orm/migrations';

/**
 * Which kinds of rules and which channels there are is declared in the code (`core/incidents/rule_kinds.ts`,
 * `core/oncall/channel.ts`) and checked where they come in, so that a new one needs no migration.
 */
export class KindsAndChannels extends Migration {
  override up(): void {
    this.addSql(`
      alter table alert_rules drop constraint alert_rules_kind_check;
      alter table incidents drop constraint incidents_kind_check;
      alter table notifications drop constraint notifications_channel_check;
    `);
  }
}
