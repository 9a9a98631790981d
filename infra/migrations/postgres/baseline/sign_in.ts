/** Sessions, second factors and connections of apps. */
export const signIn = `
  create table sessions (
    id text primary key,
    user_id text not null references users on delete cascade,
    token_hash bytea not null unique,
    address text,
    user_agent text,
    created_at timestamptz(3) not null,
    last_used_at timestamptz(3) not null,
    expires_at timestamptz(3) not null,
    second_factor_at timestamptz(3),
    provider_org_id text references organizations on delete cascade
  );
  create index sessions_by_user on sessions (user_id);

  create table password_resets (
    id text primary key,
    user_id text not null references users on delete cascade,
    token_hash bytea not null unique,
    created_at timestamptz(3) not null,
    expires_at timestamptz(3) not null,
    used_at timestamptz(3),
    is_mailed boolean not null default false
  );
  create index password_resets_by_user on password_resets (user_id);

  -- How often something was tried since when; the key tells what and by whom or for whom.
  create table sign_in_limits (
    key text primary key,
    tries integer not null,
    since timestamptz(3) not null
  );

  create table passkeys (
    id text primary key,
    user_id text not null references users on delete cascade,
    name text not null,
    public_key bytea not null,
    counter bigint not null,
    transports json not null,
    created_at timestamptz(3) not null,
    last_used_at timestamptz(3)
  );
  create index passkeys_by_user on passkeys (user_id);

  create table authenticator_apps (
    user_id text primary key references users on delete cascade,
    secret_sealed bytea not null,
    confirmed_at timestamptz(3),
    -- The period (30 s each, since 1970) of the last code that was taken: none is taken twice.
    last_period bigint not null default 0
  );

  create table recovery_codes (
    user_id text not null references users on delete cascade,
    code_hash bytea not null,
    used_at timestamptz(3),
    primary key (user_id, code_hash)
  );

  create table pending_sign_ins (
    token_hash bytea primary key,
    user_id text not null references users on delete cascade,
    expires_at timestamptz(3) not null,
    provider_org_id text references organizations on delete cascade
  );
  create index pending_sign_ins_by_end on pending_sign_ins (expires_at);

  create table passkey_challenges (
    -- A session or a pending sign-in.
    holder text primary key,
    challenge text not null,
    expires_at timestamptz(3) not null
  );

  -- One approval of one app. It ends with the membership that it rests on.
  create table connections (
    id text primary key,
    org_id text not null,
    user_id text not null,
    client_id text not null,
    client_name text not null,
    client_uri text,
    access text not null check (access in ('read_only', 'changes')),
    created_at timestamptz(3) not null,
    last_used_at timestamptz(3),
    foreign key (org_id, user_id) references memberships(org_id, user_id) on delete cascade
  );
  create index connections_by_member on connections (org_id, user_id);
  create index connections_by_client on connections (client_id);

  -- Found by the hash of a token, a code or an id: none of them is kept in clear. What belongs to a connection
  -- ends with it.
  create table oauth_records (
    kind text not null,
    hash bytea not null,
    payload json not null,
    connection_id text references connections on delete cascade,
    expires_at timestamptz(3) not null,
    consumed_at timestamptz(3),
    primary key (kind, hash)
  );
  create index oauth_records_by_connection on oauth_records (connection_id);
  create index oauth_records_by_end on oauth_records (expires_at);

  create table openid_connections (
    org_id text primary key references organizations on delete cascade,
    issuer text not null,
    client_id text not null,
    client_secret_sealed bytea not null,
    scope text not null,
    is_enabled boolean not null default false,
    is_required boolean not null default false,
    trusts_second_factor boolean not null default false,
    default_role text check (default_role in ('admin', 'editor', 'responder', 'viewer')),
    role_claim text,
    role_map json not null default '[]',
    last_fault text,
    last_fault_at timestamptz(3),
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null
  );

  create table openid_domains (
    org_id text not null references organizations on delete cascade,
    domain text not null,
    token text not null,
    proven_by text check (proven_by in ('dns', 'operator')),
    proven_at timestamptz(3),
    created_at timestamptz(3) not null,
    primary key (org_id, domain)
  );
  create unique index openid_domains_proven on openid_domains (domain) where proven_at is not null;

  create table openid_accounts (
    org_id text not null references organizations on delete cascade,
    issuer text not null,
    subject text not null,
    user_id text not null references users on delete cascade,
    created_at timestamptz(3) not null,
    last_used_at timestamptz(3) not null,
    primary key (org_id, issuer, subject)
  );
  create index openid_accounts_by_user on openid_accounts (user_id);
`;
