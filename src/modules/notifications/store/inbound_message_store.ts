import type { Temporal } from '#kernel/time.ts';
import { rowsChanged } from '#storage/postgres/columns.ts';
import type { Session } from '#storage/postgres/database.ts';

/** Messages from people, each acted upon once. Kept for good: a replay bears no date that could be trusted. */
export class InboundMessageStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** True for the first who takes it. */
  async take(providerId: string, now: Temporal.Instant): Promise<boolean> {
    const taken = await this.#session.db
      .insertInto('inbound_messages')
      .values({ provider_id: providerId, received_at: now })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return rowsChanged(taken) > 0;
  }

  /** Gives back one that could not be acted upon. */
  async release(providerId: string): Promise<void> {
    await this.#session.db.deleteFrom('inbound_messages').where('provider_id', '=', providerId).execute();
  }

  async setAnswer(providerId: string, answer: string | null): Promise<void> {
    await this.#session.db
      .updateTable('inbound_messages')
      .set({ answer })
      .where('provider_id', '=', providerId)
      .execute();
  }

  /** Returns the answer to the message; null for none, or none yet. */
  async findAnswer(providerId: string): Promise<string | null> {
    const message = await this.#session.db
      .selectFrom('inbound_messages')
      .select('answer')
      .where('provider_id', '=', providerId)
      .executeTakeFirst();
    return message?.answer ?? null;
  }
}
