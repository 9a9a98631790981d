import { type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { PostgresStore, rowsChanged, toColumns } from '#storage/postgres/store.ts';
import { hasSecondFactor } from '#modules/accounts/store/standing.ts';
import { PasswordResetEntity } from '#storage/postgres/entities/sign_in.ts';

/** A link by which somebody may set a new password, once. */
export interface OpenReset {
  readonly resetId: Id<'reset'>;
  readonly userId: Id<'user'>;
  readonly email: string;
  readonly name: string;
  readonly isMailed: boolean;
}

/** Links to set a new password, found by the hash of their token. */
export class PasswordResetStore extends PostgresStore {
  async insert(
    userId: Id<'user'>,
    tokenHash: Buffer,
    {
      now,
      ...reset
    }: { readonly now: Temporal.Instant; readonly expiresAt: Temporal.Instant; readonly isMailed: boolean },
  ): Promise<Id<'reset'>> {
    const row = { id: newId('reset'), userId, tokenHash, createdAt: now, ...reset };
    await this.insertInto('password_resets').values(toColumns(PasswordResetEntity, row)).execute();
    return row.id;
  }

  async countSince(userId: Id<'user'>, since: Temporal.Instant): Promise<number> {
    const { count } = await this.selectFrom('password_resets')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('user_id', '=', userId)
      .where('created_at', '>', since)
      .executeTakeFirstOrThrow();
    return count;
  }

  /** Null when it is unknown, used or expired. */
  async findOpen(tokenHash: Buffer, now: Temporal.Instant): Promise<OpenReset | null> {
    const row = await this.selectFrom('password_resets as r')
      .innerJoin('users as u', 'u.id', 'r.user_id')
      .select(['r.id as resetId', 'r.user_id as userId', 'u.email', 'u.name', 'r.is_mailed as isMailed'])
      .where('r.token_hash', '=', tokenHash)
      .where('r.used_at', 'is', null)
      .where('r.expires_at', '>', now)
      .executeTakeFirst();
    return row ?? null;
  }

  /** Uses it, and with it every other of the user. Of several at the same time one gets true. */
  async use({ resetId, userId }: OpenReset, now: Temporal.Instant): Promise<boolean> {
    const used = await this.#closing(now).where('id', '=', resetId).where('expires_at', '>', now).execute();
    if (rowsChanged(used) === 0) return false;
    await this.closeAll(userId, now);
    return true;
  }

  async closeAll(userId: Id<'user'>, now: Temporal.Instant): Promise<void> {
    await this.#closing(now).where('user_id', '=', userId).execute();
  }

  /** Deletes the reset as if it had never been made. */
  async remove(resetId: Id<'reset'>): Promise<void> {
    await this.deleteFrom('password_resets').where('id', '=', resetId).execute();
  }

  async removeOld(before: Temporal.Instant): Promise<void> {
    await this.deleteFrom('password_resets').where('expires_at', '<=', before).execute();
  }

  #closing(now: Temporal.Instant) {
    return this.updateTable('password_resets').set({ used_at: now }).where('used_at', 'is', null);
  }
}

/** Whether people are known to read mail to the addresses of their accounts. */
export class AddressProofStore extends PostgresStore {
  /** Whether this is the first proof. */
  async prove(userId: Id<'user'>, now: Temporal.Instant): Promise<boolean> {
    const proven = await this.updateTable('users')
      .set({ address_proven_at: now })
      .where('id', '=', userId)
      .where('address_proven_at', 'is', null)
      .execute();
    return rowsChanged(proven) > 0;
  }

  /** Whether a second factor, a browser, a confirmed number or a PIN counts for the person in every organization. */
  async hasReach(userId: Id<'user'>): Promise<boolean> {
    const row = await this.selectFrom('users as u')
      .select('u.id')
      .where('u.id', '=', userId)
      .where(({ exists, or, ref, selectFrom }) =>
        or([
          hasSecondFactor(ref('u.id')),
          exists(
            selectFrom('push_subscriptions as s')
              .select('s.id')
              .whereRef('s.user_id', '=', 'u.id')
              .where('s.org_ids', 'is', null),
          ),
          exists(selectFrom('confirmed_numbers as n').select('n.phone').whereRef('n.user_id', '=', 'u.id')),
          exists(selectFrom('reply_pins as r').select('r.user_id').whereRef('r.user_id', '=', 'u.id')),
        ]),
      )
      .executeTakeFirst();
    return row !== undefined;
  }

  /**
   * Forgets where messages to the person go, and what speaks for them beside sessions and keys: browsers, numbers, chat
   * accounts and calendars.
   */
  async forgetReach(userId: Id<'user'>): Promise<void> {
    const { db } = this;
    await db.deleteFrom('push_subscriptions').where('user_id', '=', userId).execute();
    await db.deleteFrom('phone_codes').where('user_id', '=', userId).execute();
    await db.deleteFrom('confirmed_numbers').where('user_id', '=', userId).execute();
    await db.deleteFrom('reply_pins').where('user_id', '=', userId).execute();
    await db.deleteFrom('chat_accounts').where('user_id', '=', userId).execute();
    await db.deleteFrom('own_calendars').where('user_id', '=', userId).execute();
  }
}
