import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';

/** When each call ended, by the provider's id. Goes with its message. */
export class EndedCallStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** The first report counts: one that is sent again moves nothing. */
  async note(providerId: string, notificationId: Id<'notification'>, endedAt: Temporal.Instant): Promise<void> {
    await this.#session.sql.run(
      `insert into ended_calls (provider_id, notification_id, ended_at) values ($1, $2, $3) on conflict do nothing`,
      [providerId, notificationId, endedAt.toString()],
    );
  }

  /** Null while it lasts, as far as is known. */
  async findEnd(providerId: string): Promise<Temporal.Instant | null> {
    const row = await this.#session.sql.row<{ endedAt: Temporal.Instant }>(
      'select ended_at as "endedAt" from ended_calls where provider_id = $1',
      [providerId],
    );
    return row?.endedAt ?? null;
  }
}
