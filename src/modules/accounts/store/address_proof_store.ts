import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { rowsChanged } from '#storage/postgres/columns.ts';
import type { Session } from '#storage/postgres/database.ts';

/** Whether people are known to read mail to the addresses of their accounts. */
export class AddressProofStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Whether this is the first proof. */
  async prove(userId: Id<'user'>, now: Temporal.Instant): Promise<boolean> {
    const proven = await this.#session.db
      .updateTable('users')
      .set({ address_proven_at: now })
      .where('id', '=', userId)
      .where('address_proven_at', 'is', null)
      .execute();
    return rowsChanged(proven) > 0;
  }

  /**
   * Forgets where messages to the person go, and what speaks for them beside sessions and keys: browsers, numbers, chat
   * accounts and calendars.
   */
  async forgetReach(userId: Id<'user'>): Promise<void> {
    const { db } = this.#session;
    await db.deleteFrom('push_subscriptions').where('user_id', '=', userId).execute();
    await db.deleteFrom('phone_codes').where('user_id', '=', userId).execute();
    await db.deleteFrom('confirmed_numbers').where('user_id', '=', userId).execute();
    await db.deleteFrom('reply_pins').where('user_id', '=', userId).execute();
    await db.deleteFrom('chat_accounts').where('user_id', '=', userId).execute();
    await db.deleteFrom('own_calendars').where('user_id', '=', userId).execute();
  }
}
