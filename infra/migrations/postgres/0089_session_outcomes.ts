import { Migration } from '@mikro-orm/migrations';

/**
 * Sessions that did not go well, so that each counts once, however often its client says so. Feedback about no event, and the
 * page that it came from. Processes of the previous release write neither.
 */
export class SessionOutcomes extends Migration {
  override up(): void {
    this.addSql(`
      create table session_outcomes (
        service_id text not null references services on delete cascade,
        session_id text not null,
        outcome text not null,
        release text not null,
        environment text not null,
        hour timestamptz(3) not null,
        primary key (service_id, session_id)
      );
      create index session_outcomes_by_hour on session_outcomes (hour);

      alter table event_feedback
        alter column event_id drop not null,
        add column feedback_id text,
        add column url text;
      create index event_feedback_of_service on event_feedback (service_id, created_at);
    `);
  }
}
