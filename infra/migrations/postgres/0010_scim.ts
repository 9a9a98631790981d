import { Migration } from '@mikro-orm/migrations';

/**
 * Provisioning by SCIM: the token of an organization, which is an API key that opens nothing else, the people and groups
 * that its identity provider has named, and the role of people who come by it.
 */
export class Scim extends Migration {
  override up(): void {
    this.addSql(`
      alter table api_keys add column is_provisioning boolean not null default false;
      create unique index api_keys_provisioning on api_keys (org_id) where (is_provisioning and (revoked_at is null));

      alter table organizations add column provisioned_role text not null default 'viewer'
        check (provisioned_role in ('admin', 'editor', 'responder', 'viewer'));

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
    `);
  }
}
