import { Migration } from '@mikro-orm/migrations';

/**
 * The audit log of each organization becomes a hash chain: every row is linked to the one before it, by a trigger, so
 * that rows of the previous release are linked as well. `#auth/audit_chain.ts` computes the same.
 *
 * A row is linked when its transaction commits, so that rows of one organization wait for each other only for as long
 * as a commit takes. A transaction with rows of several organizations takes their heads in the order of their ids, so
 * that two of them never wait for each other.
 *
 * Existing rows are linked unchanged, oldest first.
 */
export class AuditChain extends Migration {
  override up(): void {
    this.addSql(`set local statement_timeout = 0`);
    this.addSql(`
      create table audit_heads (
        org_id text primary key references organizations on delete cascade,
        number bigint not null,
        hash bytea not null
      );

      create table audit_links (
        org_id text not null references organizations on delete cascade,
        number bigint not null,
        audit_id text not null unique,
        hash bytea not null,
        primary key (org_id, number)
      );

      create function audit_field(value text) returns text language sql immutable as
        $$ select coalesce(octet_length(value)::text || ':' || value, '-') $$;

      create function audit_genesis(org_id text) returns bytea language sql immutable as
        $$ select sha256(convert_to(org_id, 'UTF8')) $$;

      create function audit_hash(before bytea, entry audit_log) returns bytea language sql stable as $$
        select sha256(before || convert_to(
          audit_field(entry.id) || audit_field(entry.org_id)
          || audit_field((extract(epoch from entry.at) * 1000)::bigint::text) || audit_field(entry.actor::text)
          || audit_field(entry.via) || audit_field(entry.action) || audit_field(entry.target)
          || audit_field(entry.before::text) || audit_field(entry.after::text) || audit_field(entry.result)
          || audit_field(entry.address) || audit_field(entry.request_id), 'UTF8'))
      $$;

      -- Which organizations the transaction has rows of: a setting of the transaction, empty once their heads are taken.
      create function audit_log_note() returns trigger language plpgsql as $$
      declare noted text := coalesce(current_setting('tocsin.audited', true), '');
      begin
        if position(new.org_id || ' ' in noted) = 0 then
          perform set_config('tocsin.audited', noted || new.org_id || ' ', true);
        end if;
        return null;
      end $$;

      create function audit_log_link() returns trigger language plpgsql as $$
      declare
        noted text := trim(coalesce(current_setting('tocsin.audited', true), ''));
        head audit_heads;
        linked bytea;
      begin
        if noted <> '' then
          insert into audit_heads
            select id, 0, audit_genesis(id) from unnest(string_to_array(noted, ' ')) as id order by id
            on conflict do nothing;
          perform 1 from audit_heads where org_id = any (string_to_array(noted, ' ')) order by org_id for update;
          perform set_config('tocsin.audited', '', true);
        end if;
        select * into strict head from audit_heads where org_id = new.org_id;
        linked := audit_hash(head.hash, new);
        insert into audit_links values (new.org_id, head.number + 1, new.id, linked);
        update audit_heads set number = head.number + 1, hash = linked where org_id = new.org_id;
        return null;
      end $$;

      do $$
      declare
        entry audit_log;
        chain text := '';
        place bigint;
        linked bytea;
      begin
        for entry in select * from audit_log order by org_id, at, id loop
          if entry.org_id <> chain then
            chain := entry.org_id;
            place := 0;
            linked := audit_genesis(chain);
          end if;
          place := place + 1;
          linked := audit_hash(linked, entry);
          insert into audit_links values (chain, place, entry.id, linked);
        end loop;
      end $$;

      insert into audit_heads
        select distinct on (org_id) org_id, number, hash from audit_links order by org_id, number desc;

      create trigger audit_log_is_noted after insert on audit_log for each row execute function audit_log_note();
      create constraint trigger audit_log_is_linked after insert on audit_log deferrable initially deferred
        for each row execute function audit_log_link();
    `);
  }
}
