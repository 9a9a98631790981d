import { Migration } from '@mikro-orm/migrations';

/**
 * Incidents are numbered by organization, so that numbers are short and do not reveal how many incidents other organizations
 * have. Existing incidents keep their numbers. A trigger assigns the number when the transaction commits, also for the previous
 * release: opening several incidents blocks others only during the commit, and an incident that exists already uses no number.
 */
export class IncidentNumbers extends Migration {
  override up(): void {
    this.addSql(`
      create table incident_numbers (
        org_id text primary key references organizations on delete cascade,
        last bigint not null
      );
      insert into incident_numbers select org_id, max(number) from incidents group by org_id;

      alter table incidents alter column number drop identity;
      alter table incidents alter column number drop not null;
      alter table incidents drop constraint incidents_number_key;
      alter table incidents add unique (org_id, number);

      -- Of all organizations that the transaction has noted, in the order of their ids; whoever has them may also number.
      create function audit_lock_heads() returns void language plpgsql as $$
      declare noted text := trim(coalesce(current_setting('tocsin.audited', true), ''));
      begin
        if noted = '' then return; end if;
        insert into audit_heads
          select id, 0, audit_genesis(id) from unnest(string_to_array(noted, ' ')) as id order by id
          on conflict do nothing;
        perform 1 from audit_heads where org_id = any (string_to_array(noted, ' ')) order by org_id for update;
        perform set_config('tocsin.audited', '', true);
      end $$;

      create or replace function audit_log_link() returns trigger language plpgsql as $$
      declare
        head audit_heads;
        linked bytea;
      begin
        perform audit_lock_heads();
        select * into strict head from audit_heads where org_id = new.org_id;
        linked := audit_hash(head.hash, new);
        insert into audit_links values (new.org_id, head.number + 1, new.id, linked);
        update audit_heads set number = head.number + 1, hash = linked where org_id = new.org_id;
        return null;
      end $$;

      create function incidents_number() returns trigger language plpgsql as $$
      declare given bigint;
      begin
        perform audit_lock_heads();
        insert into incident_numbers as n values (new.org_id, 1)
          on conflict (org_id) do update set last = n.last + 1 returning last into given;
        update incidents set number = given where id = new.id;
        return null;
      end $$;

      create trigger incidents_are_noted after insert on incidents for each row execute function audit_log_note();
      create constraint trigger incidents_are_numbered after insert on incidents deferrable initially deferred
        for each row execute function incidents_number();
    `);
  }
}
