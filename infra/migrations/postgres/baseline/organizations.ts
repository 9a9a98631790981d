/** Organizations, people, their keys and what they are billed for. */
export const organizations = `
  create table organizations (
    id text primary key,
    name text not null,
    created_at timestamptz(3) not null,
    second_factor_required boolean not null default false,
    trace_link text,
    shows_prices boolean not null default false,
    shadow_since timestamptz(3),
    managed_changes text not null default 'allowed' check (managed_changes in ('allowed', 'refused')),
    key_networks json,
    session_networks json,
    provisioned_role text not null default 'viewer'
      check (provisioned_role in ('admin', 'editor', 'responder', 'viewer'))
  );

  create table users (
    id text primary key,
    email text not null,
    name text not null,
    password_hash text,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    address_proven_at timestamptz(3)
  );
  create unique index users_by_email on users (lower(email));

  create table memberships (
    org_id text not null references organizations on delete cascade,
    user_id text not null references users on delete cascade,
    role text not null check (role in ('owner', 'admin', 'editor', 'responder', 'viewer')),
    created_at timestamptz(3) not null,
    phone text,
    sms_enabled boolean not null default true,
    call_enabled boolean not null default true,
    push_enabled boolean not null default true,
    email_enabled boolean not null default true,
    primary key (org_id, user_id)
  );
  create index memberships_by_user on memberships (user_id);
  create index memberships_by_phone on memberships (phone) where (phone is not null);

  -- A user's key dies with the membership: authentication joins the live role.
  create table api_keys (
    id text primary key,
    org_id text not null references organizations on delete cascade,
    user_id text references users on delete cascade,
    name text not null,
    hash bytea not null unique,
    hint text not null,
    permissions text[],
    created_at timestamptz(3) not null,
    expires_at timestamptz(3),
    revoked_at timestamptz(3),
    last_used_at timestamptz(3),
    created_by text references users on delete set null,
    is_provisioning boolean not null default false
  );
  create index api_keys_by_org on api_keys (org_id);
  create unique index api_keys_provisioning on api_keys (org_id) where (is_provisioning and (revoked_at is null));

  -- The ledger outlives the service: it names it instead of pointing at it.
  create table billing_periods (
    id text primary key,
    org_id text not null references organizations on delete cascade,
    service_id text not null,
    service_name text not null,
    capability text not null,
    starts_at timestamptz(3) not null,
    ends_at timestamptz(3) not null,
    amount_cents integer not null,
    currency text not null,
    created_at timestamptz(3) not null,
    unique (service_id, capability, starts_at)
  );
  create index billing_periods_by_org on billing_periods (org_id, starts_at);

  create table invitations (
    id text primary key,
    org_id text not null references organizations on delete cascade,
    email text not null,
    role text not null check (role in ('owner', 'admin', 'editor', 'responder', 'viewer')),
    token_hash bytea not null unique,
    invited_by text references users on delete set null,
    created_at timestamptz(3) not null,
    expires_at timestamptz(3) not null,
    accepted_at timestamptz(3),
    revoked_at timestamptz(3),
    mailed_token_hash bytea unique,
    team_ids json not null default '[]'
  );
  create index invitations_by_org on invitations (org_id, created_at desc);
  create unique index invitations_open on invitations (org_id, lower(email))
    where ((accepted_at is null) and (revoked_at is null));

  create function billing_periods_are_final()
  returns trigger
  language plpgsql
  as $function$ begin raise exception 'a billing period never changes'; end $function$;

  create trigger billing_periods_no_update before update on billing_periods
    for each row execute function billing_periods_are_final();
`;
