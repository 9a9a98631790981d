import { Migration } from '@mikro-orm/migrations';

/**
 * Many audit rows or incidents in one transaction, such as those of an import, cost as much each as a single one. Until now every
 * row changed the head of its chain again, and PostgreSQL keeps all versions of a row until its transaction ends, so that
 * the next change looked through all of them.
 *
 * The head is changed once, by the last link of the transaction. Until then, rows are linked to the last link; whichever of
 * the two is further is what the chain continues from, so that a link that somebody removed still shows as a gap.
 *
 * An incident that comes with its number, as an import brings it, keeps it.
 */
export class LinearChains extends Migration {
  override up(): void {
    this.addSql(`
      create or replace function audit_log_link() returns trigger language plpgsql as $$
      declare
        head audit_heads;
        last audit_links;
        linked bytea;
      begin
        perform audit_lock_heads();
        select * into strict head from audit_heads where org_id = new.org_id;
        select * into last from audit_links where org_id = new.org_id order by number desc limit 1;
        if last.number > head.number then
          head.number := last.number;
          head.hash := last.hash;
        end if;
        linked := audit_hash(head.hash, new);
        insert into audit_links values (new.org_id, head.number + 1, new.id, linked);
        return null;
      end $$;

      create function audit_links_end() returns trigger language plpgsql as $$
      begin
        if exists (select from audit_links where org_id = new.org_id and number > new.number) then return null; end if;
        update audit_heads set number = new.number, hash = new.hash where org_id = new.org_id;
        return null;
      end $$;

      -- Behind those of the rows, which are linked first: what a deferred trigger causes waits until these have run.
      create constraint trigger audit_links_are_ended after insert on audit_links deferrable initially deferred
        for each row execute function audit_links_end();

      create or replace function incidents_number() returns trigger language plpgsql as $$
      declare given bigint;
      begin
        if new.number is not null then return null; end if;
        perform audit_lock_heads();
        insert into incident_numbers as n
          select new.org_id, coalesce(max(number), 0) + 1 from incidents where org_id = new.org_id
          on conflict (org_id) do update set last = greatest(n.last + 1, excluded.last) returning last into given;
        update incidents set number = given where id = new.id;
        return null;
      end $$;
    `);
  }
}
