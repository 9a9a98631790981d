import { Migration } from '@mikro-orm/migrations';

/** Team that owns a service; none when the team is deleted. */
export class ServiceTeams extends Migration {
  override up(): void {
    this.addSql(`
      alter table services add column team_id text references teams on delete set null;
      create index services_by_team on services (team_id) where team_id is not null;
    `);
  }
}
