import { Migration } from '@mikro-orm/migrations';

/** Sessions, invitations, password resets, and limits on sign-in attempts. */
export class SignIn extends Migration {
  override up(): void {
    this.addSql(`
      create table sessions (
        id text primary key,
        user_id text not null references users on delete cascade,
        token_hash bytea not null unique,
        address text,
        user_agent text,
        created_at timestamptz(3) not null,
        last_used_at timestamptz(3) not null,
        expires_at timestamptz(3) not null
      );
      create index sessions_by_user on sessions (user_id);

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
        revoked_at timestamptz(3)
      );
      create index invitations_by_org on invitations (org_id, created_at desc);
      create unique index invitations_open on invitations (org_id, lower(email))
        where accepted_at is null and revoked_at is null;

      create table password_resets (
        id text primary key,
        user_id text not null references users on delete cascade,
        token_hash bytea not null unique,
        created_at timestamptz(3) not null,
        expires_at timestamptz(3) not null,
        used_at timestamptz(3)
      );
      create index password_resets_by_user on password_resets (user_id);

      -- How often something was tried since when; the key tells what and by whom or for whom.
      create table sign_in_brakes (
        key text primary key,
        tries integer not null,
        since timestamptz(3) not null
      );

      -- The last that went well or wrong in each channel of an organization.
      create index notifications_by_channel on notifications (org_id, channel, created_at desc);
    `);
  }
}
