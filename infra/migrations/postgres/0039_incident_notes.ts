import { Migration } from '@mikro-orm/migrations';

/** What people write about an incident. A request that arrives twice writes one note. */
export class IncidentNotes extends Migration {
  override up(): void {
    this.addSql(`
      create table incident_notes (
        id text primary key,
        incident_id text not null references incidents on delete cascade,
        user_id text not null,
        body text not null,
        request_key text not null,
        created_at timestamptz(3) not null,
        edited_at timestamptz(3),
        unique (incident_id, user_id, request_key)
      );
      create index incident_notes_by_incident on incident_notes (incident_id, created_at, id);
    `);
  }
}
