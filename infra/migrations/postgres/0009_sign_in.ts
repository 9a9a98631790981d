import { Migration } from '@mikro-orm/migrations';

/**
 * Sign-in through the OpenID Connect provider of an organization, its proven mail domains, the accounts that signed in
 * through it, and the networks from which keys and sessions of an organization may be used.
 */
export class SignIn extends Migration {
  override up(): void {
    this.addSql(`
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

      alter table sessions add column provider_org_id text references organizations on delete cascade;
      alter table pending_sign_ins add column provider_org_id text references organizations on delete cascade;

      alter table organizations add column key_networks json;
      alter table organizations add column session_networks json;
    `);
  }
}
