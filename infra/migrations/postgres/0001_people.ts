import { Migration } from '@mikro-orm/migrations';

/** Organizations, the people in them, and the keys that act for either. */
export class People extends Migration {
  override up(): void {
    this.addSql(`
      create table organizations (
        id text primary key,
        name text not null,
        created_at timestamptz(3) not null
      );

      create table users (
        id text primary key,
        email text not null,
        name text not null,
        password_hash text,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null
      );
      create unique index users_by_email on users (lower(email));

      create table memberships (
        org_id text not null references organizations on delete cascade,
        user_id text not null references users on delete cascade,
        role text not null check (role in ('owner', 'admin', 'editor', 'responder', 'viewer')),
        created_at timestamptz(3) not null,
        primary key (org_id, user_id)
      );
      create index memberships_by_user on memberships (user_id);

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
        last_used_at timestamptz(3)
      );
      create index api_keys_by_org on api_keys (org_id);
    `);
  }
}
