import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';

/** Stores when each call ended, by the provider's id. A row is deleted with its message. */
export class EndedCallStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** The first report counts: one that is sent again moves nothing. */
  async note(providerId: string, notificationId: Id<'notification'>, endedAt: Temporal.Instant): Promise<void> {
    await this.#session.db
      .insertInto('ended_calls')
      .values({ provider_id: providerId, notification_id: notificationId, ended_at: endedAt })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }

  /** Null while it lasts, as far as is known. */
  async findEnd(providerId: string): Promise<Temporal.Instant | null> {
    const call = await this.#session.db
      .selectFrom('ended_calls')
      .select('ended_at')
      .where('provider_id', '=', providerId)
      .executeTakeFirst();
    return call?.ended_at ?? null;
  }
}
