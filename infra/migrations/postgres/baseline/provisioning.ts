/** People and groups that an identity provider has named over SCIM. */
export const provisioning = `
  create table scim_users (
    org_id text not null references organizations on delete cascade,
    user_id text not null references users on delete cascade,
    user_name text not null,
    external_id text,
    profile json not null,
    is_account_made boolean not null,
    suspended json,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    primary key (org_id, user_id)
  );
  create unique index scim_users_by_name on scim_users (org_id, lower(user_name));
  create index scim_users_by_external_id on scim_users (org_id, external_id) where (external_id is not null);
  create index scim_users_by_user on scim_users (user_id);

  create table scim_groups (
    id text primary key,
    org_id text not null references organizations on delete cascade,
    display_name text not null,
    external_id text,
    team_id text references teams on delete set null,
    role text check (role in ('admin', 'editor', 'responder', 'viewer')),
    version bigint not null,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null
  );
  create unique index scim_groups_by_name on scim_groups (org_id, lower(display_name));
  create index scim_groups_by_team on scim_groups (team_id) where (team_id is not null);

  create table scim_group_members (
    group_id text not null references scim_groups on delete cascade,
    user_id text not null references users on delete cascade,
    primary key (group_id, user_id)
  );
  create index scim_group_members_by_user on scim_group_members (user_id);
`;
