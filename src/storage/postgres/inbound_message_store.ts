import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';

/** Messages from people, each acted upon once. Kept for good: a replay bears no date that could be trusted. */
export class InboundMessageStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** True for the first who takes it. */
  async take(providerId: string, now: Temporal.Instant): Promise<boolean> {
    const taken = await this.#session.sql.run(
      'insert into inbound_messages (provider_id, received_at) values ($1, $2) on conflict do nothing',
      [providerId, now.toString()],
    );
    return taken > 0;
  }

  /** Gives back one that could not be acted upon. */
  async release(providerId: string): Promise<void> {
    await this.#session.sql.run('delete from inbound_messages where provider_id = $1', [providerId]);
  }

  async setAnswer(providerId: string, answer: string | null): Promise<void> {
    await this.#session.sql.run('update inbound_messages set answer = $2 where provider_id = $1', [providerId, answer]);
  }

  /** What it was answered with; null for nothing, or not yet. */
  async findAnswer(providerId: string): Promise<string | null> {
    const row = await this.#session.sql.row<{ answer: string | null }>(
      'select answer from inbound_messages where provider_id = $1',
      [providerId],
    );
    return row?.answer ?? null;
  }
}
