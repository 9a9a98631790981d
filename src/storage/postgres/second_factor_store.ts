import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';

/** A credential of WebAuthn, under the name that its owner gave it. */
export interface PasskeyRow {
  /** The credential's own id, base64url. */
  readonly id: string;
  readonly userId: Id<'user'>;
  readonly name: string;
  readonly publicKey: Buffer;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly createdAt: Temporal.Instant;
  readonly lastUsedAt: Temporal.Instant | null;
}

/** An authenticator app; it counts once it is confirmed. */
export interface AuthenticatorAppRow {
  readonly secretSealed: Buffer;
  readonly confirmedAt: Temporal.Instant | null;
  readonly lastPeriod: number;
}

/** What a person can show beside the password. */
export interface SecondFactorSummary {
  readonly passkeys: number;
  readonly hasApp: boolean;
  readonly recoveryCodesLeft: number;
}

/** Wrong codes in a row, and until when no more are taken. */
export interface SecondFactorLock {
  readonly wrongTries: number;
  readonly lockedUntil: Temporal.Instant | null;
}

const PASSKEY_COLUMNS = `id, user_id as "userId", name, public_key as "publicKey", counter, transports,
  created_at as "createdAt", last_used_at as "lastUsedAt"`;

/** Second factors of people, and sign-ins that wait for one. */
export class SecondFactorStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async summaryOf(userId: Id<'user'>): Promise<SecondFactorSummary> {
    const row = await this.#session.sql.row<SecondFactorSummary>(
      `select (select count(*)::int from passkeys where user_id = $1) as passkeys,
         exists (select 1 from authenticator_apps where user_id = $1 and confirmed_at is not null) as "hasApp",
         (select count(*)::int from recovery_codes where user_id = $1 and used_at is null) as "recoveryCodesLeft"`,
      [userId],
    );
    return row ?? { passkeys: 0, hasApp: false, recoveryCodesLeft: 0 };
  }

  /** Oldest first. */
  async listPasskeys(userId: Id<'user'>): Promise<PasskeyRow[]> {
    return await this.#session.sql.rows(
      `select ${PASSKEY_COLUMNS} from passkeys where user_id = $1 order by created_at, id limit 100`,
      [userId],
    );
  }

  /** False when the credential is known already. */
  async insertPasskey(passkey: Omit<PasskeyRow, 'lastUsedAt'>): Promise<boolean> {
    const inserted = await this.#session.sql.run(
      `insert into passkeys (id, user_id, name, public_key, counter, transports, created_at)
       values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
      [
        passkey.id,
        passkey.userId,
        passkey.name,
        passkey.publicKey,
        passkey.counter,
        JSON.stringify(passkey.transports),
        passkey.createdAt.toString(),
      ],
    );
    return inserted > 0;
  }

  async notePasskeyUse(id: string, counter: number, now: Temporal.Instant): Promise<void> {
    await this.#session.sql.run('update passkeys set counter = $2, last_used_at = $3 where id = $1', [
      id,
      counter,
      now.toString(),
    ]);
  }

  /** False when the user has no such passkey. */
  async deletePasskey(userId: Id<'user'>, id: string): Promise<boolean> {
    return (await this.#session.sql.run('delete from passkeys where user_id = $1 and id = $2', [userId, id])) > 0;
  }

  async findApp(userId: Id<'user'>): Promise<AuthenticatorAppRow | null> {
    return await this.#session.sql.row<AuthenticatorAppRow>(
      `select secret_sealed as "secretSealed", confirmed_at as "confirmedAt", last_period as "lastPeriod"
       from authenticator_apps where user_id = $1`,
      [userId],
    );
  }

  /** Begins anew with an app that is yet to be confirmed. */
  async replaceApp(userId: Id<'user'>, secretSealed: Buffer): Promise<void> {
    await this.deleteApp(userId);
    await this.#session.sql.run('insert into authenticator_apps (user_id, secret_sealed) values ($1, $2)', [
      userId,
      secretSealed,
    ]);
  }

  async confirmApp(userId: Id<'user'>, now: Temporal.Instant): Promise<void> {
    await this.#session.sql.run('update authenticator_apps set confirmed_at = $2 where user_id = $1', [
      userId,
      now.toString(),
    ]);
  }

  async deleteApp(userId: Id<'user'>): Promise<void> {
    await this.#session.sql.run('delete from authenticator_apps where user_id = $1', [userId]);
  }

  /** True for the first who shows the code of this period; codes of earlier periods are refused as well. */
  async takePeriod(userId: Id<'user'>, period: number): Promise<boolean> {
    const taken = await this.#session.sql.run(
      'update authenticator_apps set last_period = $2 where user_id = $1 and last_period < $2',
      [userId, period],
    );
    return taken > 0;
  }

  async replaceRecoveryCodes(userId: Id<'user'>, hashes: readonly Buffer[]): Promise<void> {
    await this.#session.sql.run('delete from recovery_codes where user_id = $1', [userId]);
    for (const hash of hashes) {
      await this.#session.sql.run('insert into recovery_codes (user_id, code_hash) values ($1, $2)', [userId, hash]);
    }
  }

  /** True for the first use. */
  async useRecoveryCode(userId: Id<'user'>, hash: Buffer, now: Temporal.Instant): Promise<boolean> {
    const used = await this.#session.sql.run(
      'update recovery_codes set used_at = $3 where user_id = $1 and code_hash = $2 and used_at is null',
      [userId, hash, now.toString()],
    );
    return used > 0;
  }

  /** Takes every second factor away from somebody who has lost them. */
  async deleteAll(userId: Id<'user'>): Promise<void> {
    for (const table of ['passkeys', 'authenticator_apps', 'recovery_codes', 'second_factor_locks']) {
      await this.#session.sql.run(`delete from ${table} where user_id = $1`, [userId]);
    }
  }

  async insertPending(tokenHash: Buffer, userId: Id<'user'>, now: Temporal.Instant, expiresAt: Temporal.Instant) {
    await this.#session.sql.run('delete from pending_sign_ins where expires_at <= $1', [now.toString()]);
    await this.#session.sql.run('insert into pending_sign_ins (token_hash, user_id, expires_at) values ($1, $2, $3)', [
      tokenHash,
      userId,
      expiresAt.toString(),
    ]);
  }

  async findPending(tokenHash: Buffer, now: Temporal.Instant): Promise<Id<'user'> | null> {
    const row = await this.#session.sql.row<{ userId: Id<'user'> }>(
      'select user_id as "userId" from pending_sign_ins where token_hash = $1 and expires_at > $2',
      [tokenHash, now.toString()],
    );
    return row?.userId ?? null;
  }

  /** True for the first who uses it up. */
  async usePending(tokenHash: Buffer): Promise<boolean> {
    return (await this.#session.sql.run('delete from pending_sign_ins where token_hash = $1', [tokenHash])) > 0;
  }

  /** A new password, or a role that is lowered, leaves no sign-in half done. */
  async endPendingOf(userId: Id<'user'>): Promise<void> {
    await this.#session.sql.run('delete from pending_sign_ins where user_id = $1', [userId]);
  }

  async putChallenge(holder: string, challenge: string, now: Temporal.Instant, expiresAt: Temporal.Instant) {
    await this.#session.sql.run('delete from passkey_challenges where expires_at <= $1 or holder = $2', [
      now.toString(),
      holder,
    ]);
    await this.#session.sql.run('insert into passkey_challenges (holder, challenge, expires_at) values ($1, $2, $3)', [
      holder,
      challenge,
      expiresAt.toString(),
    ]);
  }

  /** The challenge, once. */
  async takeChallenge(holder: string, now: Temporal.Instant): Promise<string | null> {
    const row = await this.#session.sql.row<{ challenge: string }>(
      'delete from passkey_challenges where holder = $1 and expires_at > $2 returning challenge',
      [holder, now.toString()],
    );
    return row?.challenge ?? null;
  }

  async findLock(userId: Id<'user'>): Promise<SecondFactorLock | null> {
    return await this.#session.sql.row<SecondFactorLock>(
      `select wrong_tries as "wrongTries", locked_until as "lockedUntil" from second_factor_locks where user_id = $1`,
      [userId],
    );
  }

  async setLock(userId: Id<'user'>, { wrongTries, lockedUntil }: SecondFactorLock): Promise<void> {
    await this.#session.sql.run(
      `insert into second_factor_locks (user_id, wrong_tries, locked_until) values ($1, $2, $3)
       on conflict (user_id) do update set wrong_tries = $2, locked_until = $3`,
      [userId, wrongTries, lockedUntil?.toString() ?? null],
    );
  }

  async removeLock(userId: Id<'user'>): Promise<void> {
    await this.#session.sql.run('delete from second_factor_locks where user_id = $1', [userId]);
  }
}
