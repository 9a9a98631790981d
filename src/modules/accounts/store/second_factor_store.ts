import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, columns, PostgresStore, type Row, rowsChanged, toColumns } from '#storage/postgres/store.ts';
import { AuthenticatorAppEntity, PasskeyEntity, type PendingSignInEntity } from '#storage/postgres/entities/sign_in.ts';

/** A credential of WebAuthn, under the name that its owner gave it. */
export type PasskeyRow = Row<typeof PasskeyEntity>;

/** An authenticator app; it counts once it is confirmed. */
export type AuthenticatorAppRow = Omit<Row<typeof AuthenticatorAppEntity>, 'userId'>;

/** Second factors that a person can show beside the password. */
export interface SecondFactorSummary {
  readonly passkeys: number;
  readonly hasApp: boolean;
  readonly recoveryCodesLeft: number;
}

/** Second factors of people, and sign-ins that wait for one. */
export class SecondFactorStore extends PostgresStore {
  async summaryOf(userId: Id<'user'>): Promise<SecondFactorSummary> {
    const { db } = this;
    const passkeys = db.selectFrom('passkeys').select('id').where('user_id', '=', userId);
    const apps = db
      .selectFrom('authenticator_apps')
      .select('user_id')
      .where('user_id', '=', userId)
      .where('confirmed_at', 'is not', null);
    const codes = db
      .selectFrom('recovery_codes')
      .select('code_hash')
      .where('user_id', '=', userId)
      .where('used_at', 'is', null);
    return await db
      .selectNoFrom(({ exists, selectFrom, fn }) => [
        selectFrom(passkeys.as('p')).select(fn.countAll<number>().as('count')).$asScalar().$notNull().as('passkeys'),
        exists(apps).$castTo<boolean>().as('hasApp'),
        selectFrom(codes.as('c'))
          .select(fn.countAll<number>().as('count'))
          .$asScalar()
          .$notNull()
          .as('recoveryCodesLeft'),
      ])
      .executeTakeFirstOrThrow();
  }

  /** Returns those of the people who have a second factor. */
  async listHolders(userIds: readonly Id<'user'>[]): Promise<Set<Id<'user'>>> {
    const { db } = this;
    const apps = db
      .selectFrom('authenticator_apps')
      .select('user_id as userId')
      .where('confirmed_at', 'is not', null)
      .where('user_id', '=', anyOf(userIds));
    const holders = await db
      .selectFrom('passkeys')
      .select('user_id as userId')
      .where('user_id', '=', anyOf(userIds))
      .union(apps)
      .execute();
    return new Set(holders.map(({ userId }) => userId));
  }

  /** Oldest first. */
  async listPasskeys(userId: Id<'user'>): Promise<PasskeyRow[]> {
    return await this.selectFrom('passkeys as k')
      .select(columns(PasskeyEntity, 'k'))
      .where('k.user_id', '=', userId)
      .orderBy('k.created_at')
      .orderBy('k.id')
      .limit(100)
      .execute();
  }

  /** False when the credential is known already. */
  async insertPasskey(passkey: Omit<PasskeyRow, 'lastUsedAt'>): Promise<boolean> {
    const inserted = await this.insertInto('passkeys')
      .values(toColumns(PasskeyEntity, passkey))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return rowsChanged(inserted) > 0;
  }

  async notePasskeyUse(id: string, counter: number, now: Temporal.Instant): Promise<void> {
    await this.updateTable('passkeys').set({ counter, last_used_at: now }).where('id', '=', id).execute();
  }

  /** False when the user has no such passkey. */
  async deletePasskey(userId: Id<'user'>, id: string): Promise<boolean> {
    const deleted = await this.deleteFrom('passkeys').where('user_id', '=', userId).where('id', '=', id).execute();
    return rowsChanged(deleted) > 0;
  }

  async findApp(userId: Id<'user'>): Promise<AuthenticatorAppRow | null> {
    const app = await this.selectFrom('authenticator_apps as a')
      .select(columns(AuthenticatorAppEntity, 'a', ['secretSealed', 'confirmedAt', 'lastPeriod']))
      .where('a.user_id', '=', userId)
      .executeTakeFirst();
    return app ?? null;
  }

  /** Replaces the app by one that is not confirmed yet. */
  async replaceApp(userId: Id<'user'>, secretSealed: Buffer): Promise<void> {
    await this.deleteApp(userId);
    await this.insertInto('authenticator_apps')
      .values(toColumns(AuthenticatorAppEntity, { userId, secretSealed }))
      .execute();
  }

  async confirmApp(userId: Id<'user'>, now: Temporal.Instant): Promise<void> {
    await this.updateTable('authenticator_apps').set({ confirmed_at: now }).where('user_id', '=', userId).execute();
  }

  async deleteApp(userId: Id<'user'>): Promise<void> {
    await this.deleteFrom('authenticator_apps').where('user_id', '=', userId).execute();
  }

  /** True for the first who shows the code of this period; codes of earlier periods are refused as well. */
  async takePeriod(userId: Id<'user'>, period: number): Promise<boolean> {
    const taken = await this.updateTable('authenticator_apps')
      .set({ last_period: period })
      .where('user_id', '=', userId)
      .where('last_period', '<', period)
      .execute();
    return rowsChanged(taken) > 0;
  }

  async replaceRecoveryCodes(userId: Id<'user'>, hashes: readonly Buffer[]): Promise<void> {
    const { db } = this;
    await db.deleteFrom('recovery_codes').where('user_id', '=', userId).execute();
    if (hashes.length === 0) return;
    await db
      .insertInto('recovery_codes')
      .values(hashes.map((code_hash) => ({ user_id: userId, code_hash })))
      .execute();
  }

  /** True for the first use. */
  async useRecoveryCode(userId: Id<'user'>, hash: Buffer, now: Temporal.Instant): Promise<boolean> {
    const used = await this.updateTable('recovery_codes')
      .set({ used_at: now })
      .where('user_id', '=', userId)
      .where('code_hash', '=', hash)
      .where('used_at', 'is', null)
      .execute();
    return rowsChanged(used) > 0;
  }

  /** Deletes every second factor of somebody who has lost them. */
  async deleteAll(userId: Id<'user'>): Promise<void> {
    for (const table of ['passkeys', 'authenticator_apps', 'recovery_codes'] as const) {
      await this.deleteFrom(table).where('user_id', '=', userId).execute();
    }
  }

  async insertPending(
    { tokenHash, userId, providerOrgId, expiresAt }: Row<typeof PendingSignInEntity>,
    now: Temporal.Instant,
  ): Promise<void> {
    const { db } = this;
    await db.deleteFrom('pending_sign_ins').where('expires_at', '<=', now).execute();
    await db
      .insertInto('pending_sign_ins')
      .values({ token_hash: tokenHash, user_id: userId, expires_at: expiresAt, provider_org_id: providerOrgId })
      .execute();
  }

  async findPending(
    tokenHash: Buffer,
    now: Temporal.Instant,
  ): Promise<Pick<Row<typeof PendingSignInEntity>, 'userId' | 'providerOrgId'> | null> {
    const pending = await this.selectFrom('pending_sign_ins')
      .select(['user_id as userId', 'provider_org_id as providerOrgId'])
      .where('token_hash', '=', tokenHash)
      .where('expires_at', '>', now)
      .executeTakeFirst();
    return pending ?? null;
  }

  /** True for the first who uses it up. */
  async usePending(tokenHash: Buffer): Promise<boolean> {
    const used = await this.deleteFrom('pending_sign_ins').where('token_hash', '=', tokenHash).execute();
    return rowsChanged(used) > 0;
  }

  /** A new password, or a role that is lowered, leaves no sign-in half done. */
  async endPendingOf(userId: Id<'user'>): Promise<void> {
    await this.deleteFrom('pending_sign_ins').where('user_id', '=', userId).execute();
  }

  async putChallenge(holder: string, challenge: string, now: Temporal.Instant, expiresAt: Temporal.Instant) {
    const { db } = this;
    await db
      .deleteFrom('passkey_challenges')
      .where(({ eb, or }) => or([eb('expires_at', '<=', now), eb('holder', '=', holder)]))
      .execute();
    await db.insertInto('passkey_challenges').values({ holder, challenge, expires_at: expiresAt }).execute();
  }

  /** The challenge, once. */
  async takeChallenge(holder: string, now: Temporal.Instant): Promise<string | null> {
    const taken = await this.deleteFrom('passkey_challenges')
      .where('holder', '=', holder)
      .where('expires_at', '>', now)
      .returning('challenge')
      .executeTakeFirst();
    return taken?.challenge ?? null;
  }
}
