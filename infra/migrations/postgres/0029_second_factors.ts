import { Migration } from '@mikro-orm/migrations';

/**
 * Second factors: passkeys, authenticator apps and recovery codes. A sign-in that waits for a second factor has a row of its
 * own; a session stores when one was used last.
 */
export class SecondFactors extends Migration {
  override up(): void {
    this.addSql(`
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
        expires_at timestamptz(3) not null
      );
      create index pending_sign_ins_by_end on pending_sign_ins (expires_at);

      create table passkey_challenges (
        -- A session or a pending sign-in.
        holder text primary key,
        challenge text not null,
        expires_at timestamptz(3) not null
      );

      create table second_factor_locks (
        user_id text primary key references users on delete cascade,
        wrong_tries integer not null,
        locked_until timestamptz(3)
      );

      alter table sessions add column second_factor_at timestamptz(3);
      alter table organizations add column second_factor_required boolean not null default false;
    `);
  }
}
