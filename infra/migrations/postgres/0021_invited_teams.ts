import { Migration } from '@mikro-orm/migrations';

/** Teams that an invited person joins. */
export class InvitedTeams extends Migration {
  override up(): void {
    this.addSql(`alter table invitations add column team_ids json not null default '[]'`);
  }
}
