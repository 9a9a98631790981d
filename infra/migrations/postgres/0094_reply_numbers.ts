import { Migration } from '@mikro-orm/migrations';

/**
 * The number by which a phone answers about an incident or a proposal. Each organization counts its own, and one phone may
 * be paged by several: to a phone each number means one thing. Processes of the previous release write none, and what has
 * none is found by its own number.
 */
export class ReplyNumbers extends Migration {
  override up(): void {
    this.addSql(`
      create table reply_numbers (
        phone text not null,
        kind text not null check (kind in ('incident', 'proposal')),
        number bigint not null,
        incident_id text not null references incidents on delete cascade,
        proposal_id text references proposals on delete cascade,
        primary key (phone, kind, number),
        check ((kind = 'proposal') = (proposal_id is not null))
      );
      create unique index reply_numbers_by_incident on reply_numbers (incident_id, phone, coalesce(proposal_id, ''));
      create index reply_numbers_by_proposal on reply_numbers (proposal_id) where proposal_id is not null;
    `);
  }
}
