import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';

/** A job that must be enqueued because a change was committed. */
export interface OutboxEntry {
  readonly id: number;
  readonly jobName: string;
  readonly payload: unknown;
  /** When the job is to run; null means at once. */
  readonly runAt: Temporal.Instant | null;
  readonly createdAt: Temporal.Instant;
}

/** Jobs written in the transaction of the change they follow, published after its commit. */
export class OutboxStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async insert(
    entries: readonly { jobName: string; payload: unknown; runAt: Temporal.Instant | null }[],
    now: Temporal.Instant,
  ): Promise<number[]> {
    if (entries.length === 0) return [];
    const rows = await this.#session.sql.rows<{ id: number }>(
      `insert into outbox (job_name, payload, run_at, created_at)
       select e->>'jobName', e->'payload', (e->>'runAt')::timestamptz, $2
       from json_array_elements($1::json) e returning id`,
      [JSON.stringify(entries.map((entry) => ({ ...entry, runAt: entry.runAt?.toString() ?? null }))), now.toString()],
    );
    return rows.map((row) => row.id);
  }

  async hasAny(): Promise<boolean> {
    return (await this.#session.sql.row('select 1 from outbox limit 1')) !== null;
  }

  /**
   * Locks up to `limit` entries that nobody else is publishing, without the named ones. What is due first comes first,
   * so that a message does not wait behind thousands of alarm clocks for later.
   */
  async claim(limit: number, except: readonly number[]): Promise<OutboxEntry[]> {
    return await this.#session.sql.rows(
      `select id, job_name as "jobName", payload, run_at as "runAt", created_at as "createdAt" from outbox
       where id <> all($2) order by coalesce(run_at, created_at), id limit $1 for update skip locked`,
      [limit, except],
    );
  }

  async remove(ids: readonly number[]): Promise<void> {
    await this.#session.sql.run('delete from outbox where id = any($1)', [ids]);
  }
}
