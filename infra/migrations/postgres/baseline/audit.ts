/** The audit log: append-only, and chained by hashes, so that a change is found. */
export const audit = `
  create function audit_field(value text)
  returns text
  language sql
  immutable
  as $function$ select coalesce(octet_length(value)::text || ':' || value, '-') $function$;

  create function audit_genesis(org_id text)
  returns bytea
  language sql
  immutable
  as $function$ select sha256(convert_to(org_id, 'UTF8')) $function$;

  create function audit_lock_heads()
  returns void
  language plpgsql
  as $function$
    declare noted text := trim(coalesce(current_setting('tocsin.audited', true), ''));
    begin
      if noted = '' then return; end if;
      insert into audit_heads
        select id, 0, audit_genesis(id) from unnest(string_to_array(noted, ' ')) as id order by id
        on conflict do nothing;
      perform 1 from audit_heads where org_id = any (string_to_array(noted, ' ')) order by org_id for update;
      perform set_config('tocsin.audited', '', true);
  end $function$;

  create table audit_log (
    id text primary key,
    org_id text not null references organizations on delete cascade,
    at timestamptz(3) not null,
    actor json not null,
    via text not null,
    action text not null,
    target text,
    before json,
    after json,
    result text not null,
    address text,
    request_id text not null
  );
  create index audit_log_by_org on audit_log (org_id, at desc);

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

  create function audit_log_is_append_only()
  returns trigger
  language plpgsql
  as $function$ begin raise exception 'the audit log is append-only'; end $function$;

  create function audit_hash(before bytea, entry audit_log)
  returns bytea
  language sql
  stable
  as $function$
      select sha256(before || convert_to(
        audit_field(entry.id) || audit_field(entry.org_id)
        || audit_field((extract(epoch from entry.at) * 1000)::bigint::text) || audit_field(entry.actor::text)
        || audit_field(entry.via) || audit_field(entry.action) || audit_field(entry.target)
        || audit_field(entry.before::text) || audit_field(entry.after::text) || audit_field(entry.result)
        || audit_field(entry.address) || audit_field(entry.request_id), 'UTF8'))
    $function$;

  create function audit_log_note()
  returns trigger
  language plpgsql
  as $function$
    declare noted text := coalesce(current_setting('tocsin.audited', true), '');
    begin
      if position(new.org_id || ' ' in noted) = 0 then
        perform set_config('tocsin.audited', noted || new.org_id || ' ', true);
      end if;
      return null;
  end $function$;

  create function audit_log_link()
  returns trigger
  language plpgsql
  as $function$
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
  end $function$;

  create function audit_links_end()
  returns trigger
  language plpgsql
  as $function$
    begin
      if exists (select from audit_links where org_id = new.org_id and number > new.number) then return null; end if;
      update audit_heads set number = new.number, hash = new.hash where org_id = new.org_id;
      return null;
  end $function$;

  create constraint trigger audit_log_is_linked after insert on audit_log deferrable initially deferred
    for each row execute function audit_log_link();

  create trigger audit_log_is_noted after insert on audit_log for each row execute function audit_log_note();

  create trigger audit_log_no_update before update on audit_log
    for each row execute function audit_log_is_append_only();

  create constraint trigger audit_links_are_ended after insert on audit_links deferrable initially deferred
    for each row execute function audit_links_end();

  create table audit_streams (
    id text primary key,
    org_id text not null references organizations on delete cascade,
    kind text not null check (kind in ('webhook', 'file')),
    shown text not null,
    sealed bytea,
    is_on boolean not null,
    sent_number bigint not null,
    sent_hash bytea,
    failures integer not null default 0,
    failing_since timestamptz(3),
    last_failure text,
    last_success_at timestamptz(3),
    told_at timestamptz(3),
    held_until timestamptz(3),
    claimed_until timestamptz(3),
    created_at timestamptz(3) not null
  );
  create index audit_streams_by_org on audit_streams (org_id);
`;
